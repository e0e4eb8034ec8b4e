"""What a report is made from: run logs, the specification, the kill matrix, and what people wrote.

Here: runs, explanations, the specification and the qualification, as read.
Not here: what is made of them (``report.counts``, ``report.failures``).
"""
