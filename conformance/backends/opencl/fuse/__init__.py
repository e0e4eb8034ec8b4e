"""Values become launches: which are stored, which are computed where they are needed, and which kernels are one.

Nothing here knows devices, storage or order: nodes are made of this in ``lower``, and items of those in ``schedule``.
"""
