"""scan: every member receives the reduction of the blocks up to its own, in member order."""

from __future__ import annotations

from typing import Any

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array, logical
from conformance.reference.groups import partition
from conformance.reference.reductions import Terms, check, folded, of_nothing


@operation("reduce", groups="any")
def scan(blocks: list[Array], *, op: str, exclusive: bool, factor: float = 1.0, groups: Groups) -> list[Array]:
    """Return, for each rank, the reduction of the blocks of the members up to and with it (``scan.C1``).

    ``exclusive`` leaves its own block out (``scan.C3``); of no blocks at all the result is that of reducing nothing
    (``scan.C4``).
    """
    check(logical(blocks[0].dtype), op)
    made = folded(terms(blocks, exclusive=exclusive, groups=groups), op, factor)
    return [of_nothing(blocks[0].dtype, op, blocks[0].shape) if each is None else each for each in made]


def terms(blocks: list[Array], *, exclusive: bool, groups: Groups) -> list[Terms | None]:
    """Return, for each rank, what is folded on it, in member order; ``None`` stands for none at all."""
    found: list[Terms | None] = [None] * len(blocks)
    for group in partition(groups, len(blocks)):
        for position, rank in enumerate(group):
            found[rank] = [blocks[group[at]] for at in part(position, len(group), exclusive=exclusive)] or None
    return found


def part(position: int, _size: int, *, exclusive: bool, **_others: Any) -> range:
    """Return the positions that the member at ``position`` folds: those before it, and inclusive its own."""
    return range(position + (not exclusive))
