"""The abstract graph: what was asked of a scheduler, node by node.

What its nodes compute is in ``reference.graph``.
"""
