"""all_reduce: every member receives the reduction of its group's blocks."""

from __future__ import annotations

from conformance.cases.dtypes import Array, logical
from conformance.cases.program import Groups
from conformance.reference.groups import axis_in, partition
from conformance.reference.reductions import Terms, check, folded
from conformance.reference.rejected import Rejected


def all_reduce(
    blocks: list[Array], *, op: str, factor: float = 1.0, local_axes: tuple[int, ...] = (), groups: Groups
) -> list[Array]:
    """Return, for each rank, the elementwise reduction of the blocks of its group (``all_reduce.C1``).

    ``local_axes`` of every block are reduced away first, slice by slice in order (``all_reduce.C2``).
    """
    check(logical(blocks[0].dtype), op)
    return folded(terms(blocks, local_axes=local_axes, groups=groups), op, factor)


def terms(blocks: list[Array], *, local_axes: tuple[int, ...] = (), groups: Groups) -> list[Terms]:
    """Return, for each rank, what is folded on it: the slices of its group's blocks, in member order."""
    at = [axis_in(axis, blocks[0].ndim, "all_reduce.C3") for axis in local_axes]
    if len(set(at)) != len(at):
        raise Rejected("all_reduce.C4", f"local axes {list(local_axes)} name one axis twice")
    for axis in at:
        if blocks[0].shape[axis] == 0:
            raise Rejected("all_reduce.C5", f"local axis {axis} of shape {blocks[0].shape} has no elements to reduce")
    found: list[Terms] = [[]] * len(blocks)
    for group in partition(groups, len(blocks)):
        members = [piece for member in group for piece in _slices(blocks[member], at)]
        for rank in group:
            found[rank] = members
    return found


def _slices(block: Array, axes: list[int]) -> list[Array]:
    pieces = [block]
    for axis in sorted(axes, reverse=True):
        pieces = [piece.take(index, axis) for piece in pieces for index in range(piece.shape[axis])]
    return pieces
