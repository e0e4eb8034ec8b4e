"""Another legal order of a schedule, drawn by a seed: what no edge forbids may happen, and must change nothing.

The items of one group of one call stay in a row, so that every device still meets collectives in one order;
their order among themselves is drawn too.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TypeVar

import msgspec

from conformance.backends.opencl.graph.node import Node
from conformance.backends.opencl.schedule.item import Barrier, Item
from conformance.backends.opencl.schedule.order import Turns
from conformance.backends.opencl.schedule.schedule import Schedule

T = TypeVar("T")


def reordered(made: Schedule, turns: Turns, seed: int) -> Schedule:
    """Return the schedule with its items in an order drawn by ``seed`` in which each still comes after its edges."""
    draw = random.Random(seed)  # noqa: S311 - which order is drawn is no secret
    edges = _edges(made.items)
    runs = [
        [number for number, _ in run]
        for _, run in groupby(enumerate(made.items), lambda pair: (turn_of(pair[1], turns) or (pair[0],))[:2])
    ]
    run_of = {number: index for index, run in enumerate(runs) for number in run}
    between = {
        index: {run_of[each] for number in run for each in edges[number]} - {index} for index, run in enumerate(runs)
    }
    order: list[int] = []
    for index in _drawn(between, draw):
        inside = {number: edges[number].intersection(runs[index]) for number in runs[index]}
        order += _drawn(inside, draw)
    place = {number: at for at, number in enumerate(order)}
    items = tuple(
        msgspec.structs.replace(
            made.items[number], after=tuple(sorted(place[each] for each in made.items[number].after))
        )
        for number in order
    )
    return msgspec.structs.replace(made, items=items)


def turn_of(item: Item, turns: Mapping[Node, T]) -> T | None:
    """Return the collective and the group an item belongs to: those of what it writes."""
    return next((turns.get(access.node) for access in item.accesses if access.write), None)


def _edges(items: Sequence[Item]) -> dict[int, set[int]]:
    """Return what each item comes after, the last barrier of its device included."""
    barriers: dict[int, int] = {}
    found: dict[int, set[int]] = {}
    for number, item in enumerate(items):
        fence = {barriers[item.device]} if item.device in barriers else set()
        found[number] = {*item.after, *fence}
        if isinstance(item, Barrier):
            barriers[item.device] = number
    return found


def _drawn(after: Mapping[int, Iterable[int]], draw: random.Random) -> list[int]:
    """Return the keys in an order drawn among all in which each comes after those it names."""
    left = {key: set(earlier) for key, earlier in after.items()}
    order: list[int] = []
    while left:
        key = draw.choice([key for key, earlier in left.items() if not earlier])
        del left[key]
        for earlier in left.values():
            earlier.discard(key)
        order.append(key)
    return order
