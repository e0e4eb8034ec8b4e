"""What was given for graphs, held against what they mean.

The clauses that ask here stand in ``specs.graphs``.
"""
