"""scatter: the root's block is split, and the member at position p receives piece p."""

from __future__ import annotations

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import axis_in, equal_sizes, partition, pieces_of, position_in
from conformance.reference.operations.all_to_all import pieces


@operation("spread", readers="root", sized=True)
def scatter(blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> list[Array]:
    """Return piece p of the root's block along ``axis``; untiled pieces have extent 1 and lose the axis.

    The blocks of the other members have the root's shape and are not read (``scatter.C4``).
    """
    size = equal_sizes(partition(groups, len(blocks)))
    position_in(root, size, "scatter.C6", "root")
    at = axis_in(axis, blocks[0].ndim, "scatter.C7")
    pieces_of(blocks[0].shape[at], size, tiled, "scatter.C8", "scatter.C9")
    out = list(blocks)
    for group in groups:
        for rank, piece in zip(group, pieces(blocks[group[root]], size, at, tiled=tiled), strict=True):
            out[rank] = piece
    return out
