"""Known failures: their file, and how a run holds them.

Here: the file, its errors, and what is expected of a run.
Not here: what people explain in reports (``report.inputs``).
"""
