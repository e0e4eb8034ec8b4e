"""One backend's side of a run: what it is asked, what its answers come to, and which of them are failures.

Here: claims, conversations, meetings, failures and records of one backend.
Not here: its process (``runner.worker``).
"""
