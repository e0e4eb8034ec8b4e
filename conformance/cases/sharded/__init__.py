"""Sharded tensors: logical tensors, the devices that hold parts of them, and programs on such.

What its programs mean is in ``reference.sharded``.
"""
