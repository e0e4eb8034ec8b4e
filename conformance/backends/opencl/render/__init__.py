"""Kernels as OpenCL C.

Here: the text of a kernel for points, vectors, folds and products.
Not here: compiling and launching it (``runtime``).
"""
