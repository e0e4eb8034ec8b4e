"""Backends in processes of their own: started, fed, heard, ended.

Here: supervision, sandboxes, requests, answers and starts.
Not here: what is asked (``runner.backend``), and the process itself (``backends.worker``).
"""
