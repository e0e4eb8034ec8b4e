"""all_gather: every member receives all blocks of its group, in member order."""

from __future__ import annotations

import numpy as np

from conformance.cases.dtypes import Array
from conformance.cases.program import Groups
from conformance.reference.groups import axis_in, equal_sizes, partition


def all_gather(blocks: list[Array], *, axis: int, tiled: bool, groups: Groups) -> list[Array]:
    """Return the blocks of the group stacked at a new ``axis``, or concatenated along it when ``tiled``."""
    equal_sizes(partition(groups, len(blocks)))
    rank_of_result = blocks[0].ndim + (not tiled)
    at = axis_in(axis, rank_of_result, "all_gather.C5")
    out = list(blocks)
    for group in groups:
        members = [blocks[member] for member in group]
        for rank in group:
            out[rank] = np.concatenate(members, at) if tiled else np.stack(members, at)
    return out
