"""The history of many runs in one SQLite file, which run logs alone make again.

Here: schema, additions, cells, intervals and queries.
Not here: pages over it (``history.site``).
"""
