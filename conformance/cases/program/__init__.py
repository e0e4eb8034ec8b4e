"""The ``spmd`` dialect: programs in which every rank holds a block, and what tells such programs apart."""
