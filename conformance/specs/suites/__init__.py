"""One file for each suite.

It names the clauses that the suite speaks of; how its cases are drawn is in ``generate.suites``.
"""
