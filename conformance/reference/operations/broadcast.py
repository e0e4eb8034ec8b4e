"""broadcast: every member receives the root's block."""

from __future__ import annotations

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import partition, position_in


@operation("spread", readers="root", groups="any")
def broadcast(blocks: list[Array], *, root: int, groups: Groups) -> list[Array]:
    """Return the block of the member at position ``root`` of each group."""
    for group in partition(groups, len(blocks)):
        position_in(root, len(group), "broadcast.C3", "root")
    out = list(blocks)
    for group in groups:
        for rank in group:
            out[rank] = blocks[group[root]].copy()
    return out
