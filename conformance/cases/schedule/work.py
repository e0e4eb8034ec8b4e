"""How much work a schedule asks for: what conflicts with what, and every item in every run, on all draws and orders.

A schedule is counted as it is written, before it is known to be well formed: of what is malformed nothing is counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from conformance.cases.graph.extent import Dim, Values, countable, sizes
from conformance.cases.graph.work import graph_work
from conformance.cases.schedule.index_map import IndexMap, counted
from conformance.cases.schedule.kernel_body import by_index
from conformance.cases.schedule.schedule import Access, Call, Collective, Item, Kernel, Schedule, Sequence, accesses
from conformance.cases.work import NamedAmount

ITEM: Final = 20_000
"""Steps of an item in all clauses that ask nothing of others: 2,000 copies are judged in half a second."""

PAIR: Final = 700
"""Steps of a pair of accesses of one storage: half a million take 4 s."""

ROW: Final = 60
"""Steps of a range of bytes in a storage, each time that it is met; a strided map has one for each of its points."""

POINT: Final = 4
"""Steps of an instruction, or of an access, at a point of a body."""

EVALUATIONS: Final = 48
"""How often a schedule is run and its graph evaluated, on 13 to 16 draws, in the order of its list."""

ORDERS: Final = 200
"""How often it is run again where its items say what they wait for (``reference.schedule.orders``)."""

ORDERED: Final = 10
"""Steps of a pair of items in each of these orders."""


_Counted = tuple[Item, int, int, dict[str, tuple[int, int]]]
"""An item, how many it stands for, the steps of one run, and the numbers of accesses and of their rows by buffer."""


def schedule_work(schedule: Schedule) -> Iterator[NamedAmount]:
    """Yield what a schedule asks for: what is said of its graph, of each item, and of each storage."""
    most = {name: max(bounds.high, 0) for name, bounds in schedule.variables.items()}
    parts = [(item, *_counted(item, schedule, most)) for item in schedule.items]
    waits = any(_waits(each) for item in schedule.items for each in _inner(item, schedule))
    roots = _roots(schedule)
    ordered = waits and schedule.graph is not None and _meeting(parts, schedule, roots)
    runs = EVALUATIONS + (ORDERS if ordered else 0)
    if schedule.graph is not None:
        yield "its graph", EVALUATIONS * sum(steps for _, steps in graph_work(schedule.graph)) // 4
        yield "its storages", runs * sum(max(0, each.size) for each in schedule.buffers if each.base is None) // 8
    rows: Counter[str] = Counter()
    touched: Counter[str] = Counter()
    number = 0
    for item, count, steps, mine in parts:
        number += count
        more = 0
        for buffer, (times, row) in mine.items():
            root = roots.get(buffer, buffer)
            more += times * (PAIR * touched[root] + ROW * rows[root]) + row * ROW * (1 + touched[root])
            more += PAIR * times * times // 2 + ROW * times * row
            touched[root] += times
            rows[root] += row
        yield (
            f"item {item.id!r:.80}",
            count * ITEM + more + ordered + (runs * steps if schedule.graph is not None else 0),
        )


def _meeting(parts: Iterable[_Counted], schedule: Schedule, roots: Mapping[str, str]) -> bool:
    """Return whether one item may write into a storage that another one reads or writes."""
    users: Counter[str] = Counter()
    written: set[str] = set()
    for item, count, _, mine in parts:
        users.update({roots.get(name, name): count for name in mine})
        for each in _inner(item, schedule):
            written |= {roots.get(access.buffer, access.buffer) for access in accesses(each) if access.write}
    return any(users[root] > 1 for root in written)


def _inner(item: Item, schedule: Schedule) -> Iterable[Item]:
    """Return the items that an item stands for: the parts of a collective, what a call repeats, or itself."""
    if isinstance(item, Call):
        sequence = schedule.sequences.get(item.sequence)
        return () if sequence is None else sequence.items
    return item.parts if isinstance(item, Collective) and item.parts else (item,)


def _waits(item: Item) -> bool:
    return item.after is not None or getattr(item, "handle", None) is not None


def _counted(item: Item, schedule: Schedule, most: Values) -> tuple[int, int, dict[str, tuple[int, int]]]:
    """Return of an item how many it stands for, the steps of one run, and accesses and their rows by buffer."""
    count, steps = 0, 0
    mine: dict[str, tuple[int, int]] = {}
    sequence = schedule.sequences.get(item.sequence) if isinstance(item, Call) else None
    for each in _inner(item, schedule):
        bound = {**most, **_bound(item), **_bound(each)}
        count += 1
        steps += ITEM // 4 + _run(each, schedule, sequence, bound)
        for access in accesses(each):
            times, rows = mine.get(access.buffer, (0, 0))
            mine[access.buffer] = times + 1, rows + _rows(access, bound)
    return count, steps, mine


def _bound(item: Item) -> dict[str, int]:
    return {each.name: each.value for each in item.variables} if isinstance(item, Kernel | Call) else {}


def _run(item: Item, schedule: Schedule, sequence: Sequence | None, bound: Values) -> int:
    """Return the steps of one run of an item."""
    found = 0
    held = {each.id: each for each in (sequence.buffers if sequence is not None else schedule.buffers)}
    for number, access in enumerate(accesses(item)):
        size = max(0, held[access.buffer].size) if access.buffer in held else 0
        by_data = isinstance(item, Kernel) and number in by_index(item.bodies)
        found += POINT * (size if access.map is None else _mapped(access.map, bound, once=by_data))
    for body in item.bodies if isinstance(item, Kernel) else ():
        found += POINT * _points(body.extents, bound) * (len(body.instructions) + len(accesses(item)))
    return found


def _rows(access: Access, bound: Values) -> int:
    """Return how many ranges of bytes an access has, at most; a map without gaps has one."""
    if access.map is None:
        return len(access.ranges or ()) or 1
    return 1 if _dense(access.map, bound) else _mapped(access.map, bound, once=True)


def _dense(index_map: IndexMap, bound: Values) -> bool:
    """Return whether the elements of a map follow each other without a gap."""
    if len(index_map) != 1 or (affine := index_map[0]).scales:
        return False
    length = 1
    extents = _sizes(affine.extents, bound)
    for stride, count in sorted((abs(stride), count) for stride, count in zip(affine.strides, extents, strict=False)):
        if count > 1 and stride > length:
            return False
        length += stride * max(0, count - 1)
    return True


def _points(extents: tuple[Dim, ...], bound: Values) -> int:
    found = _sizes(extents, bound)
    return math.prod(found) if countable(found) else 0


def _mapped(index_map: IndexMap, bound: Values, *, once: bool) -> int:
    """Return the points of a map, those ``once`` that lie at one place along all of an axis."""
    found = [_sizes(each.extents, bound) for each in index_map]
    if once and found and len(found[0]) == len(index_map[0].strides):
        found[0] = counted(index_map[0], found[0])
    return sum(math.prod(each) for each in found if countable(each))


def _sizes(extents: tuple[Dim, ...], bound: Values) -> tuple[int, ...]:
    """Return extents as numbers; of a variable that is not declared, or a division by nothing, nothing is known."""
    try:
        return sizes(extents, bound)
    except (KeyError, ZeroDivisionError):
        return (0,)


def _roots(schedule: Schedule) -> Mapping[str, str]:
    """Return the storage that each buffer lies in; of a chain that ends nowhere the last that is named."""
    bases = {each.id: each.base for each in schedule.buffers}
    found: dict[str, str] = {}
    for name in bases:
        way = [name]
        while (base := bases.get(way[-1])) is not None and base not in found and base not in way:
            way.append(base)
        root = found.get(base, way[-1]) if (base := bases.get(way[-1])) is not None else way[-1]
        found |= dict.fromkeys(way, root)
    return found
