"""reduce_scatter: the reduction of the group, of which the member at position p keeps piece p."""

from __future__ import annotations

import numpy as np

from conformance.cases.dtypes import Array
from conformance.cases.program import Groups
from conformance.reference.all_reduce import fold
from conformance.reference.groups import axis_in, equal_sizes, partition
from conformance.reference.rejected import Rejected


def reduce_scatter(blocks: list[Array], *, op: str, axis: int, tiled: bool, groups: Groups) -> list[Array]:
    """Return piece p of the reduction along ``axis``; untiled pieces have extent 1 and lose the axis."""
    size = equal_sizes(partition(groups, len(blocks)))
    at = axis_in(axis, blocks[0].ndim, "reduce_scatter.C5")
    pieces_of(blocks[0].shape[at], size, tiled, "reduce_scatter.C6", "reduce_scatter.C7")
    out = list(blocks)
    for group in groups:
        reduced = fold([blocks[member] for member in group], op, "reduce_scatter.C8")
        for rank, piece in zip(group, np.split(reduced, size, at), strict=True):
            out[rank] = piece.copy() if tiled else piece.squeeze(at).copy()
    return out


def pieces_of(extent: int, size: int, tiled: bool, indivisible: str, unequal: str) -> None:
    """Break ``indivisible`` (tiled) or ``unequal`` (untiled) unless ``extent`` splits into ``size`` pieces."""
    if tiled and extent % size:
        raise Rejected(indivisible, f"extent {extent} does not divide into {size} equal pieces")
    if not tiled and extent != size:
        raise Rejected(unequal, f"extent {extent} must equal the group size {size}, one slice for each member")
