"""Graphs to be scheduled, which nobody evaluates in rounds.

Here: steps by class, swarms of operations, and constants. These steps are not those of graph cases: they are held to
what a body of a kernel has a word for, lie on up to four devices, and assign to parts of buffers.
Not here: graph cases, which have rounds and data (``generate.graphs``), and schedules by hand (``cases.schedule``).
"""
