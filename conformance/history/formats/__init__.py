"""A comparison of two runs as people and programs read it.

Here: lines, JSON, and the comment on a pull request.
Not here: what differs (``history.differences``).
"""
