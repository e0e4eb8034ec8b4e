"""Mutants that are wrong under a condition: the condition, the fault, and what cases meet.

Here: words of cases, faults of collectives and of values, and faults that change nothing.
Not here: changes of code (``auto.source``).
"""
