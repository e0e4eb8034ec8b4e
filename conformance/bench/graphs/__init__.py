"""Graphs that schedulers are compared on: how many kernels they make of them, and how long those take.

Here: the rows, the tensors that list them, competitors, counts and timings.
Not here: programs on sharded tensors (``bench.sharded``).
"""
