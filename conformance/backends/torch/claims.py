"""What the documentation of PyTorch 2.13 supports, as data; what Torch then does is for the suite to find out.

Each limit gives the documented reason. Where the documentation is silent (no page asks a CPU collective
for contiguous operands, none lists dtypes for Gloo, none excludes bool or integers from a reduction)
there is no limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.backends.base import Claims

COMMON: Final[dict[str, Sequence[str]]] = {
    # torch.from_numpy shares memory with the array; torch.Tensor documents that strides are never negative.
    "layout": ("contiguous", "strided", "transposed", "broadcast", "offset"),
    # A process group is a list of distinct ranks of the world (new_group), and a rank that is in none takes
    # no part, so groups that are no partition have no meaning. new_group(sort_ranks=False) documents that
    # position in the list is the group rank: unsorted groups are supported.
    "groups": ("none", "even", "uneven", "strided", "unsorted", "singletons"),
}

EQUAL: Final[dict[str, Sequence[str]]] = {
    **COMMON,
    # Each group is a communicator of its own, so a partition into unequal sizes is several legal collectives
    # and not one illegal program: the rejection that the specification asks for cannot be asked for here.
    "groups": tuple(word for word in COMMON["groups"] if word != "uneven"),
}

# ReduceOp is an enumeration, so a reduction that it lacks cannot be written.
REDUCE_OP: Final = ("sum", "product", "max", "min")

C10D: Final[Claims] = {
    "all_reduce": {**COMMON, "op": REDUCE_OP},
    "all_gather": EQUAL,
    "reduce_scatter": {**EQUAL, "op": REDUCE_OP},
    "all_to_all": EQUAL,
    "permute": EQUAL,
    "broadcast": COMMON,
}

FUNCTIONAL: Final[Claims] = {
    "all_reduce": COMMON,
    # "Concatenate over gather_dim": there is no stacked form. The page also notes that only dimension 0 is
    # supported, against its own signature; no feature word tells axis 0 from the others, so no limit here.
    "all_gather": {**EQUAL, "tiled": ("true",)},
    # scatter_dim splits a dimension and keeps it: there is no stacked form.
    "reduce_scatter": {**EQUAL, "tiled": ("true",)},
    "broadcast": COMMON,
    # all_to_all_single has no dimension argument and permute_tensor takes one destination for every source,
    # so neither can say split_axis and concat_axis, or partial pairs.
}
