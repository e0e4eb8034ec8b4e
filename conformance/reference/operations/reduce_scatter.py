"""reduce_scatter: the reduction of the group, of which the member at position p keeps piece p."""

from __future__ import annotations

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array, logical
from conformance.reference.groups import axis_in, equal_sizes, partition, pieces_of
from conformance.reference.operations.all_to_all import pieces
from conformance.reference.reductions import Terms, check, folded


@operation("reduce", sized=True)
def reduce_scatter(
    blocks: list[Array], *, op: str, axis: int, tiled: bool, factor: float = 1.0, groups: Groups
) -> list[Array]:
    """Return piece p, cut along ``axis``, of the fold; untiled pieces have extent 1 and lose the axis."""
    check(logical(blocks[0].dtype), op)
    return folded(terms(blocks, axis=axis, tiled=tiled, groups=groups), op, factor)


def terms(blocks: list[Array], *, axis: int, tiled: bool, groups: Groups) -> list[Terms]:
    """Return, for the member at position p, what is folded on it: piece p of its group's blocks, in member order."""
    size = equal_sizes(partition(groups, len(blocks)))
    at = axis_in(axis, blocks[0].ndim, "reduce_scatter.C5")
    pieces_of(blocks[0].shape[at], size, tiled, "reduce_scatter.C6", "reduce_scatter.C7")
    found: list[Terms] = [[]] * len(blocks)
    for group in groups:
        cut = [pieces(blocks[member], size, at, tiled=tiled) for member in group]
        for position, rank in enumerate(group):
            found[rank] = [block[position] for block in cut]
    return found
