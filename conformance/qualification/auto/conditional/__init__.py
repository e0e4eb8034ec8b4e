"""Mutants that are wrong under a condition: the condition, the fault, and what cases meet."""
