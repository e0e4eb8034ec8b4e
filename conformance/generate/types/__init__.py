"""Typed programs: grammars of steps, well typed or refused by one rule, and data on which nothing rounds.

Here: the six kinds of typed cases.
Not here: clauses about types (``specs.types``), and the table of typed programs (``generate.tables``).
"""
