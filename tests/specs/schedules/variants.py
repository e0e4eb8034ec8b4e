"""The same schedule by edges alone, and with a memory plan."""

from __future__ import annotations

import random

from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.schedule import Collective, Copy, Item, Kernel, Schedule, Wait
from conformance.reference.schedule.facts import Facts


def by_edges(made: Schedule, source: random.Random | None = None) -> Schedule:
    """Return the schedule whose items wait for those they conflict with, but for one edge that ``source`` draws."""
    facts = Facts(made)
    edges = sorted({(first, second) for first, second, _, _ in facts.conflicts})
    if source is not None and edges:
        edges.remove(source.choice(edges))
    after = {
        leaf.id: tuple(facts.leaves[first].id for first, second in edges if second == number)
        for number, leaf in enumerate(facts.leaves)
    }
    items = [
        replace(item, parts=tuple(replace(part, after=after[part.id]) for part in item.parts))
        if isinstance(item, Collective)
        else replace(item, after=after[item.id])
        for item in made.items
    ]
    return replace(made, items=tuple(items))


def started(made: Schedule, source: random.Random) -> Schedule:
    """Return the schedule with every copy and some kernels only started, and waited for where first conflicted with."""
    needs: dict[int, list[int]] = {}
    for first, second, _, _ in Facts(made).conflicts:
        needs.setdefault(second, []).append(first)
    pending: dict[int, Wait] = {}
    items: list[Item] = []
    for number, item in enumerate(made.items):
        items += [pending.pop(first) for first in sorted(set(needs.get(number, ()))) if first in pending]
        if isinstance(item, Copy) or (isinstance(item, Kernel) and source.random() < 0.3):
            items.append(replace(item, handle=f"h{number}"))
            pending[number] = Wait(id=f"w{number}", handle=f"h{number}")
        else:
            items.append(item)
    return replace(made, items=(*items, *pending.values()))


def planned(made: Schedule, source: random.Random | None = None) -> Schedule:
    """Return the schedule with its inner buffers in arenas, some of them given away too early if ``source`` says so."""
    facts, lives, taken = Facts(made), {}, []
    for number, own in enumerate(facts.touches):
        lives |= {touch.root: (lives.get(touch.root, (number, 0))[0], number) for touch in own}
    outside = {place.buffer for place in made.places} | {each.id for each in made.buffers if each.preexisting}
    buffers: list[Buffer] = []
    for each in made.buffers:
        if each.id in outside or each.id not in lives:
            buffers.append(each)
            continue
        first, last = lives[each.id]
        if source is not None:
            last = source.randint(first, last)
        offset = 0
        while any(at == (each.device, offset) and first <= end and begin <= last for at, begin, end in taken):
            offset += 256
        taken.append(((each.device, offset), first, last))
        buffers.append(replace(each, base=f"arena {each.device}", offset=offset, planned=True))
    sizes = {device: 256 + max(at[1] for at, _, _ in taken if at[0] == device) for (device, _), _, _ in taken}
    arenas = [Buffer(id=f"arena {name}", size=size, dtype="uint8", device=name) for name, size in sizes.items()]
    return replace(made, buffers=(*arenas, *buffers))
