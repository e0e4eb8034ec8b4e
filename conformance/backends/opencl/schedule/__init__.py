"""Nodes become items in an order, with the edges between them and the places of what they read and write.

Here: order, hazards over byte ranges, batches, and the plan of memory.
Not here: the neutral form of it (``export``), and what is one kernel (``fuse``).
"""
