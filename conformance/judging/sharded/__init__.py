"""What was given for programs on sharded tensors, held against what they mean.

The clauses that ask here stand in ``specs.sharded``.
"""
