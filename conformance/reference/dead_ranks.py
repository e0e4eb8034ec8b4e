"""Who cannot go on where ranks die: whose results are made of blocks that a dead rank never gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from conformance.cases.program.operations import row
from conformance.cases.program.program import Groups, Step
from conformance.reference.operations import folded_positions


def stopped(steps: Iterable[tuple[Step, Groups]], dead: Mapping[int, int]) -> frozenset[int]:
    """Return the ranks that cannot finish, of ``steps`` with the groups of each, made by all ranks in this order.

    ``dead`` is the first step that each dead rank does not make. A rank that is stopped in a step has given its block
    of that step, and gives none of later ones.
    """
    given = dict(dead)
    for index, (step, groups) in enumerate(steps):
        missing = {
            group[at]
            for group in groups
            for at in range(len(group))
            if any(given.get(group[giver], index + 1) <= index for giver in givers(step, at, len(group)))
        }
        given |= {rank: min(given.get(rank, index + 1), index + 1) for rank in missing}
    return frozenset(given) - frozenset(dead)


def givers(step: Step, position: int, size: int) -> Iterable[int]:
    """Return the positions, in a group of ``size``, for whose blocks the member at ``position`` waits."""
    operation, attrs = row(step.op), cast(Any, step.attrs)
    if operation.writers == "root" and position != attrs["root"]:
        return ()
    if operation.readers == "root":
        return (attrs["root"],)
    if operation.result in ("token", "number"):
        return ()
    if "pairs" in attrs:
        return [source for source, target in attrs["pairs"] if target == position]
    if "sources" in attrs:
        return (attrs["sources"][position],)
    return folded_positions(step.op, position, size, attrs)
