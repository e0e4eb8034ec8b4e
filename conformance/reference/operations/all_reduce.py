"""all_reduce: every member receives the reduction of its group's blocks."""

from __future__ import annotations

import math

import numpy as np

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array, logical
from conformance.reference.groups import axis_in, partition
from conformance.reference.reductions import Terms, check, folded, of_nothing
from conformance.reference.rejection import Rejected


@operation("reduce", groups="any")
def all_reduce(
    blocks: list[Array], *, op: str, factor: float = 1.0, local_axes: tuple[int, ...] = (), groups: Groups
) -> list[Array]:
    """Return, for each rank, the elementwise reduction of the blocks of its group (``all_reduce.C1``).

    ``local_axes`` of every block are reduced away first, slice by slice in order (``all_reduce.C2``). Where one has no
    elements, the result is that of reducing nothing (``all_reduce.C5``).
    """
    check(logical(blocks[0].dtype), op)
    made = folded(terms(blocks, local_axes=local_axes, groups=groups), op, factor)
    at = {axis % blocks[0].ndim for axis in local_axes}
    kept = tuple(extent for axis, extent in enumerate(blocks[0].shape) if axis not in at)
    return [of_nothing(blocks[0].dtype, op, kept) if each is None else each for each in made]


def terms(blocks: list[Array], *, local_axes: tuple[int, ...] = (), groups: Groups) -> list[Terms | None]:
    """Return, for each rank, what is folded on it: the slices of its group's blocks, in member order.

    ``None`` stands for none at all.
    """
    at = [axis_in(axis, blocks[0].ndim, "all_reduce.C3") for axis in local_axes]
    if len(set(at)) != len(at):
        raise Rejected("all_reduce.C4", f"local axes {list(local_axes)} name one axis twice")
    found: list[Terms | None] = [None] * len(blocks)
    for group in partition(groups, len(blocks)):
        members = [piece for member in group for piece in _slices(blocks[member], at)]
        for rank in group:
            found[rank] = members or None
    return found


def _slices(block: Array, axes: list[int]) -> list[Array]:
    """Return views, since a long block has 100,000 slices."""
    if not axes:
        return [block]
    ordered = sorted(axes, reverse=True)
    kept = [extent for axis, extent in enumerate(block.shape) if axis not in ordered]
    count = math.prod(block.shape[axis] for axis in ordered)
    rows = np.moveaxis(block, ordered, range(len(ordered))).reshape(count, *kept)
    return [rows[index, ...] for index in range(count)]
