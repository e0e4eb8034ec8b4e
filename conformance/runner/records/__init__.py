"""What a run says, as values: the records of its log, and what they are made of.

Here: origins, records of cases and backends, and the footer.
Not here: writing and reading them (``runner.log``).
"""
