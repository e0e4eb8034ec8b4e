"""reduce: the root receives the reduction of its group's blocks, the other members nothing."""

from __future__ import annotations

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array, logical
from conformance.reference.groups import partition, position_in
from conformance.reference.reductions import Terms, check, folded


@operation("reduce", writers="root", groups="any")
def reduce(blocks: list[Array], *, op: str, root: int, factor: float = 1.0, groups: Groups) -> list[Array | None]:
    """Return the reduction of each group on the member at position ``root``, ``None`` elsewhere."""
    check(logical(blocks[0].dtype), op)
    return folded(terms(blocks, root=root, groups=groups), op, factor)


def terms(blocks: list[Array], *, root: int, groups: Groups) -> list[Terms | None]:
    """Return what is folded on each root: its group's blocks, in member order."""
    found: list[Terms | None] = [None] * len(blocks)
    for group in partition(groups, len(blocks)):
        found[group[position_in(root, len(group), "reduce.C3", "root")]] = [blocks[member] for member in group]
    return found
