"""all_gather: every member receives all blocks of its group, in member order."""

from __future__ import annotations

import numpy as np

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import axis_in, equal_sizes, partition


@operation("gather", sized=True)
def all_gather(blocks: list[Array], *, axis: int, tiled: bool, groups: Groups) -> list[Array]:
    """Return the blocks of the group stacked at a new ``axis``, or concatenated along it when ``tiled``."""
    equal_sizes(partition(groups, len(blocks)))
    at = axis_in(axis, blocks[0].ndim + (not tiled), "all_gather.C5")
    out = list(blocks)
    for group in groups:
        for rank in group:
            out[rank] = joined([blocks[member] for member in group], at, tiled=tiled)
    return out


def joined(blocks: list[Array], axis: int, *, tiled: bool) -> Array:
    """Return fresh the blocks concatenated along ``axis`` (tiled) or stacked at it."""
    return np.concatenate(blocks, axis) if tiled else np.stack(blocks, axis)
