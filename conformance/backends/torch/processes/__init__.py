"""The processes of the ranks: pools, what they are sent, what they answer, and how they end.

Here: jobs, one process a rank, the supervisor, and the faults of ranks.
Not here: what a rank runs (``backends.torch.c10d``, ``functional``).
"""
