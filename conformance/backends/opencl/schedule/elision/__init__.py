"""What need not be computed or copied by a kernel of its own, because another writes it where it has to be.

Here: copies and kernels that are left out, and what must hold for that.
Not here: the order of what is left (``schedule``).
"""
