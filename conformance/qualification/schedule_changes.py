"""The small changes that mistakes in schedules, and other ways to schedule, are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.schedule import Access, Collective, Copy, Item, Kernel, Schedule
from conformance.reference.schedule.facts import Facts, Touch

Leaf = Kernel | Copy


def each_leaf(made: Schedule, change: Callable[[Leaf], Leaf | None]) -> Schedule:
    """Return the schedule with every kernel and copy changed, or gone where that is ``None``."""
    items: list[Item] = []
    for item in made.items:
        if isinstance(item, Collective) and item.parts:
            parts = tuple(part for part in map(change, item.parts) if part is not None)
            if parts:
                items.append(replace(item, parts=parts))
        else:
            found = change(item) if isinstance(item, Leaf) else item
            if found is not None:
                items.append(found)
    ids = {leaf.id for leaf, _ in Facts(replace(made, items=tuple(items))).owned}
    kept = replace(made, items=tuple(items))
    return kept if len(ids) == len(Facts(made).owned) else _forgotten(kept, ids)


def _forgotten(made: Schedule, ids: set[str]) -> Schedule:
    def forget(leaf: Leaf) -> Leaf:
        return replace(leaf, after=None if leaf.after is None else tuple(name for name in leaf.after if name in ids))

    return each_leaf(made, forget)


def each_access(made: Schedule, change: Callable[[Access], Access]) -> Schedule:
    """Return the schedule with every access changed."""
    found = each_leaf(made, lambda leaf: replace(leaf, accesses=tuple(map(change, leaf.accesses))))
    items = tuple(
        replace(item, accesses=tuple(map(change, item.accesses))) if isinstance(item, Collective) else item
        for item in found.items
    )
    return replace(found, items=items)


def each_buffer(made: Schedule, change: Callable[[Buffer], Buffer]) -> Schedule:
    """Return the schedule with every buffer changed."""
    return replace(made, buffers=tuple(map(change, made.buffers)))


def with_edges(made: Schedule, wanted: Callable[[Facts, int, int, Touch, Touch], bool]) -> Schedule:
    """Return the schedule with the edges of those conflicts alone that are ``wanted``: two leaves and their bytes."""
    facts = Facts(made)
    after: dict[str, set[str]] = {leaf.id: set() for leaf in facts.leaves}
    for first, second, other, own in facts.conflicts:
        if wanted(facts, first, second, other, own):
            after[facts.leaves[second].id].add(facts.leaves[first].id)
    return each_leaf(made, lambda leaf: replace(leaf, after=tuple(sorted(after[leaf.id]))))


def flat(made: Schedule) -> list[Any]:
    """Return the leaves in order, with no collective about them, so that they can be moved."""
    return [leaf for leaf, _ in Facts(made).owned]
