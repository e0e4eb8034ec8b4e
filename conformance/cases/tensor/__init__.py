"""Tensors as data: element types, bits, layouts, and how they are stored.

No arithmetic on values lives here.
"""
