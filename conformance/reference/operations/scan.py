"""scan: every member receives the reduction of the blocks up to its own, in member order."""

from __future__ import annotations

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array, logical
from conformance.reference.groups import partition
from conformance.reference.reductions import Terms, check, folded, of_nothing


@operation("reduce", groups="any", folds="prefix")
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
            found[rank] = [blocks[member] for member in group[: position + (not exclusive)]] or None
    return found
