"""How much work a program asks for: what each step costs its ranks, and what the judge finds out about reductions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from conformance.cases.case import Case
from conformance.cases.graph.work import EACH
from conformance.cases.program.operations import row
from conformance.cases.program.program import COMPUTING, NO_COLLECTIVES, Attr
from conformance.cases.program.value_bytes import Extent, extents, members_of
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import to_array
from conformance.cases.work import NamedAmount

RANK: Final = 2_000
"""Steps of a rank in a step: 1,024 steps of 1,024 ranks take 19 s."""

ELEMENT: Final = 20
"""Steps of an element that is moved or combined exactly, in every clause that looks at it."""

COLUMN: Final = 15_000
"""Steps of a column of a reduction that rounds, and of each term: 8,192 of two floats take 1.7 s, and 65,536 terms
of one 1.4 s (``judging.numbers``)."""

TERM: Final = 5_000

NODES: Final = 8
"""Nodes of a graph that a step which computes becomes, at most."""

PAIR: Final = 5
"""Steps of a pair of terms of a product that rounds: 16,384 terms take 20 s, for they are multiplied exactly."""


def program_work(case: Case) -> Iterator[NamedAmount]:
    """Yield what a case asks for: each step in turn.

    Columns of equal terms are looked at once. How many are unlike in long blocks of few values, the inputs say.
    """
    world = case.program.world
    unlike: dict[str, int] | None = None
    for number, (step, given, made) in enumerate(extents(case)):
        steps = RANK * world + ELEMENT * sum(each.elements for each in (*given, *made))
        if step.op in COMPUTING:
            # Its nodes are evaluated once more, with what is known of roundings; a dot has the most.
            steps += NODES * EACH * world
        if step.op not in NO_COLLECTIVES:
            members = members_of(case.program.mesh, step.axes, step.groups)
            rounds = sum(rounding(step.op, step.attrs, each, members, world) for each in given)
            if rounds > MANY and not step.attrs.get("local_axes"):
                unlike = _unlike_of(case) if unlike is None else unlike
                groups = max(1, world // max(1, members))
                columns = sum(unlike.get(name, SOME) for name in step.inputs) * groups
                rounds = min(rounds, _columns(step.attrs, columns, members))
            steps += rounds
        yield f"step {number} ({step.op:.80})", steps


def rounding(op: str, attrs: dict[str, Attr], given: Extent, members: int, world: int) -> int:
    """Return the steps of what is found out about the columns of a reduction of floats or complex numbers."""
    if row(op).does != "reduce" or not given.rounded:
        return 0
    # Local axes make columns longer, of up to all that the members have.
    longest = members * max(1, given.elements // world) if attrs.get("local_axes") else members
    paired = PAIR * given.elements * longest if attrs.get("op") == "product" else 0
    return (TERM + COLUMN // max(1, members)) * given.elements + paired


def _columns(attrs: dict[str, Attr], columns: int, members: int) -> int:
    """Return the steps of so many columns of as many terms as there are members."""
    return columns * (COLUMN + members * (TERM + PAIR * members * (attrs.get("op") == "product")))


def _unlike_of(case: Case) -> dict[str, int]:
    """Return for each value on how many places, at most, the ranks hold unlike tuples of elements.

    A place of what was moved whole, or reduced, is that of a place before it; one of what was gathered that of a place
    of one member; and one of what was exchanged in parts has each rank's element of another place.
    """
    inputs = case.inputs.items()
    known = {name: _unlike([to_array(block).reshape(-1) for block in each.blocks]) for name, each in inputs}
    for step, given, made in extents(case):
        taken = [known.get(name, SOME) for name in step.inputs]
        if step.op in NO_COLLECTIVES:
            found = sum(taken)  # of a write in a part there is what is written, and what was there
        else:
            members, most = members_of(case.program.mesh, step.axes, step.groups), max(taken, default=SOME)
            found = SOME if most > 1 << 16 or members > 64 else members * most**members
            found = members * most if row(step.op).does == "gather" else found
            found = most if step.op in WHOLE and len(given) == len(made) == 1 else found
        known |= dict.fromkeys(step.outputs, min(found, SOME))
    return known


def _unlike(blocks: list[Array]) -> int:
    """Return how many places of blocks of one length hold unlike tuples of elements."""
    sizes = {block.size for block in blocks}
    if len(sizes) != 1 or not all(sizes):
        return SOME if any(sizes) else 1
    mixed = np.zeros(blocks[0].size, np.uint64)
    for block in blocks:
        for part in block.view(np.uint8).reshape(block.size, block.itemsize).T:
            mixed = (mixed ^ part) * np.uint64(0x100000001B3) + np.uint64(0x9E3779B97F4A7C15)
    return len(np.unique(mixed))


WHOLE: Final = frozenset({"all_reduce", "reduce", "broadcast", "permute", "scan", "shuffle"})
"""Operations whose results have at each place what their members have there."""

MANY: Final = 1 << 30
"""Steps of a step from which its columns are looked at: some seconds of work."""

SOME: Final = 1 << 62
"""More unlike columns than any case has."""
