"""Static pages over many runs: who conforms, since when what fails, and how each case came out over time.

Here: overview, trends, data and the pages' scripts.
Not here: the report of one run (``report``).
"""
