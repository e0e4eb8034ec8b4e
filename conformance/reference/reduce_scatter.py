"""reduce_scatter: the reduction of the group, of which the member at position p keeps piece p."""

from __future__ import annotations

from conformance.cases.dtypes import Array, logical
from conformance.cases.program import Groups
from conformance.reference.all_to_all import pieces
from conformance.reference.groups import axis_in, equal_sizes, partition, pieces_of
from conformance.reference.reductions import check, fold


def reduce_scatter(
    blocks: list[Array], *, op: str, axis: int, tiled: bool, factor: float = 1.0, groups: Groups
) -> list[Array]:
    """Return piece p of the reduction along ``axis``; untiled pieces have extent 1 and lose the axis."""
    check(logical(blocks[0].dtype), op)
    size = equal_sizes(partition(groups, len(blocks)))
    at = axis_in(axis, blocks[0].ndim, "reduce_scatter.C5")
    pieces_of(blocks[0].shape[at], size, tiled, "reduce_scatter.C6", "reduce_scatter.C7")
    out = list(blocks)
    for group in groups:
        reduced = fold([blocks[member] for member in group], op, factor)
        for rank, piece in zip(group, pieces(reduced, size, at, tiled=tiled), strict=True):
            out[rank] = piece
    return out
