"""Schedules against the graph that was asked for.

Here: clauses of schedules as values, the verdict, the graph of a program, and ``facts`` that clauses ask for.
Not here: the clauses (``specs.schedules``), and schedules run with NumPy (``reference.schedule``).
"""
