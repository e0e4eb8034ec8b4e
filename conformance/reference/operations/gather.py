"""gather: the root receives all blocks of its group, in member order, the other members nothing."""

from __future__ import annotations

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import axis_in, equal_sizes, partition, position_in
from conformance.reference.operations.all_gather import joined


@operation("gather", writers="root", sized=True)
def gather(blocks: list[Array], *, root: int, axis: int, tiled: bool, groups: Groups) -> list[Array | None]:
    """Return the blocks of each group joined as by all_gather on the member at ``root``, ``None`` elsewhere."""
    size = equal_sizes(partition(groups, len(blocks)))
    position_in(root, size, "gather.C5", "root")
    at = axis_in(axis, blocks[0].ndim + (not tiled), "gather.C6")
    out: list[Array | None] = [None] * len(blocks)
    for group in groups:
        out[group[root]] = joined([blocks[member] for member in group], at, tiled=tiled)
    return out
