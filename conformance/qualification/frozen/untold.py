"""Schedules that say less: one label, the provenance, the bodies or the turns of one item, or one map fewer.

So do those that say less of the memory of one buffer: how collectives reach it, or which allocation it lies in.

Who says less may be right or wrong, and clauses that need to know which say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from msgspec.structs import replace

from conformance.cases.schedule.schedule import Access, Collective, Copy, Item, Kernel, Schedule

Change = Callable[[Kernel | Copy | Collective, Random], Item | None]


def untold(made: Schedule, random: Random) -> Iterator[tuple[str, Schedule]]:
    """Yield schedules of which one item, or buffer, says less, each with the word for it."""
    found: dict[str, list[Schedule]] = {}
    for word, other in all_untold(made, random):
        found.setdefault(word, []).append(other)
    for word, others in found.items():
        yield word, random.choice(others)


def all_untold(made: Schedule, random: Random) -> Iterator[tuple[str, Schedule]]:
    """Yield for each item and each buffer the schedules in which it says less, each with the word for it."""
    for word, change in CHANGES.items():
        for at, item in enumerate(made.items):
            other = _less(item, change, random)
            if other is not None:
                yield word, replace(made, items=(*made.items[:at], other, *made.items[at + 1 :]))
    for field in ("communication_kind", "allocation"):
        for at, buffer in enumerate(made.buffers):
            if getattr(buffer, field):
                less = replace(buffer, **{field: ""})
                yield f"no {field}", replace(made, buffers=(*made.buffers[:at], less, *made.buffers[at + 1 :]))


def _less(item: Item, change: Change, random: Random) -> Item | None:
    if isinstance(item, Collective) and item.parts and change is not _turns:
        at = random.randrange(len(item.parts))
        part = change(item.parts[at], random)
        if not isinstance(part, Kernel | Copy):
            return None
        return replace(item, parts=(*item.parts[:at], part, *item.parts[at + 1 :]))
    return change(item, random) if isinstance(item, Kernel | Copy | Collective) else None


def _provenance(item: Kernel | Copy | Collective, _: Random) -> Item | None:
    return replace(item, provenance=()) if item.provenance else None


def _bodies(item: Kernel | Copy | Collective, _: Random) -> Item | None:
    return replace(item, bodies=()) if isinstance(item, Kernel) and item.bodies else None


def _turns(item: Kernel | Copy | Collective, _: Random) -> Item | None:
    return replace(item, turns=None) if isinstance(item, Collective) and item.turns is not None else None


def _access(wanted: Callable[[Access], bool], **less: None) -> Change:
    def change(item: Kernel | Copy | Collective, random: Random) -> Item | None:
        found = [at for at, access in enumerate(item.accesses) if wanted(access)]
        if not found:
            return None
        at = random.choice(found)
        other = replace(item.accesses[at], **less)
        return replace(item, accesses=(*item.accesses[:at], other, *item.accesses[at + 1 :]))

    return change


CHANGES: Final[dict[str, Change]] = {
    "a label less": _access(lambda access: access.write and access.node is not None, node=None),
    "a label of a read less": _access(lambda access: not access.write and access.node is not None, node=None),
    "a map less": _access(lambda access: access.map is not None, map=None),
    "no provenance": _provenance,
    "no bodies": _bodies,
    "no turns": _turns,
}
"""By a word for each: what an item says no longer. ``None`` where it said nothing of the kind."""
