"""What a kernel is known to do, whatever it is for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from conformance.cases.schedule.index_map import Indices
from conformance.cases.schedule.kernel_body import Load, Store
from conformance.cases.schedule.schedule import Access, Kernel
from conformance.reference.byte_ranges import NOTHING, common, joined, size
from conformance.reference.schedule.facts import Facts


def moves_only(leaf: Kernel) -> bool:
    """Return whether a kernel is known to move values and to do nothing else."""
    return any(moved(leaf))


def moved(leaf: Kernel) -> Iterator[tuple[Access, Access]]:
    """Yield by which accesses a kernel that only loads and stores reads and writes each value; of another nothing."""
    if all(isinstance(each, Load | Store) for body in leaf.bodies for each in body.instructions):
        for body in leaf.bodies:
            for each in body.instructions:
                load = body.instructions[each.of] if isinstance(each, Store) else None
                if isinstance(each, Store) and isinstance(load, Load):
                    yield leaf.accesses[load.access], leaf.accesses[each.access]


def movements(leaf: Kernel) -> Iterator[tuple[Access, Access]]:
    """Yield by which accesses a kernel only moves values, or may: of one without a body nobody knows what it does."""
    yield from moved(leaf)
    if not leaf.bodies:
        yield from ((read, write) for read in leaf.accesses for write in leaf.accesses if write.write > read.write)


def filled(facts: Facts, buffer: str) -> int:
    """Return how many bytes of a buffer hold data at the beginning, or are written: it may be larger than its value."""
    key = ("filled", 0, 0)
    if key not in facts.kept:
        written: dict[str, Indices] = {}
        for touch in (touch for own in facts.touches for touch in own if touch.write):
            home = facts.home(touch.access.buffer)
            written[home] = joined(written.get(home, NOTHING), touch.ranges)
        facts.kept[key] = written
    whole = facts.touch(Access(buffer=buffer))
    held = cast("dict[str, Indices]", facts.kept[key]).get(facts.home(buffer), NOTHING)
    return size(common(joined(held, facts.given.get(whole.root, NOTHING)), whole.ranges))
