"""Observation against reference: comparisons, clauses and verdicts."""
