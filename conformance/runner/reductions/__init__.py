"""Smaller cases: what the search for the smallest one tries, for each dialect.

Here: moves for programs, graphs, sharded tensors and types, and leaps.
Not here: the search (``runner.shrinking``).
"""
