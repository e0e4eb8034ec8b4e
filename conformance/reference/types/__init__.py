"""The checker of types: which type each value of a program has for each mesh axis, or which rule refuses it.

What the programs compute is in ``reference.spmd``; how they are drawn in ``generate.types``.
"""
