"""What cases come to: by backend, operation, clause and dtype.

Here: the matrix, its parts, placements, topics and the tally.
Not here: what failed (``report.failures``).
"""
