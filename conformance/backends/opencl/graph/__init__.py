"""What was asked: nodes and views, and how programs and their operations become them.

Here: tracing of programs, values and nodes, index maps, and folding of constants.
Not here: which values become kernels (``fuse``), and how nodes become copies and kernels (``lower``).
"""
