"""What the nodes of a graph compute.

How nodes are placed and fused is a schedule's business (``reference.schedule``).
"""
