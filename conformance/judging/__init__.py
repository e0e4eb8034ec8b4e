"""Observation against reference: comparisons, clauses and verdicts.

What must hold stands in ``specs``, one clause at a time; what a case means is asked of ``reference``.
"""
