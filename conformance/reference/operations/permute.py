"""permute: blocks move along (source, destination) pairs of positions."""

from __future__ import annotations

import numpy as np

from conformance.cases.program.operations import operation
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.reference.groups import equal_sizes, partition, position_in
from conformance.reference.rejection import Rejected


@operation("exchange", readers="sources")
def permute(blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Array]:
    """Return the source's block at every destination of its group and zeros where no pair points.

    Zeros are zero bits: in float8_e8m0fnu, which has no zero, they are its least number, 2**-127 (``permute.C2``).
    """
    check_pairs(pairs, groups, len(blocks))
    out = [np.zeros_like(block) for block in blocks]
    for group in groups:
        for source, destination in pairs:
            out[group[destination]] = blocks[group[source]].copy()
    return out


def check_pairs(pairs: Groups, groups: Groups, world: int) -> None:
    """Require positions of the group, no source twice and no destination twice."""
    size = equal_sizes(partition(groups, world))
    for source, destination in pairs:
        for position in (source, destination):
            clause = "pairs.C4" if position < 0 else "pairs.C3"
            position_in(position, size, clause, "source or destination")
    for ends, clause in zip(zip(*pairs, strict=True), ("pairs.C1", "pairs.C2"), strict=False):
        if len(set(ends)) != len(ends):
            raise Rejected(clause, f"pairs {list(pairs)} use a position twice on one side")
