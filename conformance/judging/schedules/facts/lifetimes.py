"""How long the parts of a storage are in use, and which of them share bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import cast

import numpy as np

from conformance.cases.schedule.index_map import Indices
from conformance.cases.schedule.schedule import Access, Wait
from conformance.reference.byte_ranges import common, joined, overlap
from conformance.reference.schedule.facts import Facts


@dataclass
class Use:
    """Which bytes of a storage a part of it is used for, and the first and the last leaf that does.

    ``last`` is where a leaf that is only started has been waited for; ``leaves`` are those that do.
    """

    root: str
    ranges: Indices
    first: int
    last: int
    leaves: list[int]


def _part(facts: Facts, buffer: str) -> str:
    """Return whose bytes those of a buffer are to the plan: a planned buffer's, else those of a view of the storage."""
    at = facts.buffers[buffer]
    while at.base is not None and not at.planned and facts.buffers[at.base].base is not None:
        at = facts.buffers[at.base]
    return at.id


def uses(facts: Facts) -> dict[str, Use]:
    """Return how each part of a storage is used, by id.

    A planned buffer has all of its bytes from its first use to its last; of what is not planned those bytes count that
    are used, all of them where it is seen from outside. What is only started lasts to its wait.
    """
    key = ("uses", 0, 0)
    if key not in facts.kept:
        facts.kept[key] = _uses(facts)
    return cast("dict[str, Use]", facts.kept[key])


def _uses(facts: Facts) -> dict[str, Use]:
    end = len(facts.leaves)
    last = {number: number for number in range(end)}
    for place, leaf in enumerate(facts.leaves):
        for number in facts.handles[leaf.handle] if isinstance(leaf, Wait) else ():
            last[number] = max(last[number], place)
    found: dict[str, Use] = {}
    planned: dict[str, Indices] = {}
    for number, own in enumerate(facts.touches):
        for touch in own:
            part = facts.buffers[_part(facts, touch.access.buffer)]
            if part.planned and part.id not in planned:
                planned[part.id] = facts.touch(Access(buffer=part.id)).ranges
            ranges = planned[part.id] if part.planned else touch.ranges
            use = found.setdefault(part.id, Use(touch.root, ranges, number, number, []))
            use.leaves.append(number)
            use.ranges, use.last = joined(use.ranges, ranges), max(use.last, last[number])
    for buffer in (each for each in facts.schedule.buffers if each.base is not None and not each.planned):
        if _part(facts, buffer.id) == buffer.id and (buffer.preexisting or buffer.held):
            whole = facts.touch(Access(buffer=buffer.id))
            use = found.setdefault(buffer.id, Use(whole.root, whole.ranges, -1, -1, []))
            use.ranges, use.first, use.last = whole.ranges, -1, end if buffer.held else use.last
    for kept in facts.schedule.places:
        if use_at_the_end := found.get(_part(facts, kept.buffer)):
            use_at_the_end.last = end
    return found


def sharing(facts: Facts) -> Iterator[tuple[str, Use, str, Use]]:
    """Yield the planned buffers that are used with each other, and each view of an arena, that shares bytes of them."""
    for (first, one), (second, other) in combinations(uses(facts).items(), 2):
        planned = facts.buffers[first].planned or facts.buffers[second].planned
        if planned and one.root == other.root and overlap(one.ranges, other.ranges):
            yield first, one, second, other


def over(facts: Facts, one: Use, other: Use) -> bool:
    """Return whether one use ends before the other begins: as listed, or as the edges between all their leaves say.

    One leaf may be the last of one and the first of the other, where it takes over what it read.
    """
    inside = one.last < len(facts.leaves) and other.first >= 0
    edges = inside and all(
        facts.ordered(first, second) or (first == second and _taken_over(facts, first, one, other))
        for first in one.leaves
        for second in other.leaves
    )
    return one.last < other.first or edges


def _taken_over(facts: Facts, leaf: int, one: Use, other: Use) -> bool:
    """Return whether a leaf only reads the bytes of one use, and writes them as the other's, each in its place.

    Of a kernel whose maps are known that is the business of ``assign.C1``.
    """
    own = [touch for touch in facts.touches[leaf] if touch.root == one.root]
    shared = common(one.ranges, other.ranges)
    reads = [touch for touch in own if not touch.write and overlap(touch.ranges, shared)]
    writes = [touch for touch in own if touch.write and overlap(touch.ranges, shared)]
    known = all(touch.access.map is not None for touch in (*reads, *writes))
    alike = all(np.array_equal(read.ranges, written.ranges) for read in reads for written in writes)
    return len(writes) == 1 and (known or alike)
