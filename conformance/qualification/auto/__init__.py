"""Mutants that nobody wrote: changed code of the reference and of the engine, and faults under conditions.

Here: the corpus, its campaign, mutants that survive and are equivalent, and judging by tests.
Not here: written mutants (``qualification.mutants`` and its neighbours).
"""
