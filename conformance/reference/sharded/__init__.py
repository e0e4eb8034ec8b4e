"""What programs on sharded tensors mean, and how the source ``tinygrad.multi`` places what they compute.

What must hold of the values stands in ``specs.sharded``.
"""
