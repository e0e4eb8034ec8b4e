"""How fast programs on sharded tensors are, next to frameworks that have such, on the same devices and cores.

Here: the programs, and a competitor for each framework.
Not here: graphs on one device (``bench.graphs``).
"""
