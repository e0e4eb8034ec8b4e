"""The ``spmd`` dialect: programs in which every rank holds a block, and what tells such programs apart.

What the steps of a program mean is in ``reference``; how programs are drawn in ``generate.programs``.
"""
