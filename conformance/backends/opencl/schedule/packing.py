"""Storages of one device that go in or come out together laid into one, so that they are one copy from or to the host.

A copy of a few bytes costs the host as much as one of some thousands, and a program has a block of each of its values.
"""

from __future__ import annotations

from typing import NamedTuple

from conformance.backends.opencl.schedule.memory_plan import MemoryPlan


class Packed(NamedTuple):
    """The plan with fewer storages, of which the first ``given`` are those that exist before."""

    memory: MemoryPlan
    given: int


def packed(memory: MemoryPlan, given: int, alignment: int, most: int) -> Packed:
    """Return the plan in which storages of one device are laid into ones of up to ``most`` bytes; arenas and pool stay.

    The first ``given``, which exist before, share with each other alone. Each begins at a multiple of ``alignment``
    bytes.
    """
    devices: dict[int, int] = {}
    for node, place in memory.places.items():
        devices.setdefault(place, node.device)
    sizes: list[int] = []
    current: dict[tuple[bool, int], int] = {}
    spots: list[tuple[int, int]] = []
    for place in range(memory.arenas):
        lane, size = (place < given, devices[place]), -(-memory.sizes[place] // alignment) * alignment
        pack = current.get(lane)
        if pack is None or sizes[pack] + size > most:
            pack = current[lane] = len(sizes)
            sizes.append(0)
        spots.append((pack, sizes[pack]))
        sizes[pack] += size
    before = len({pack for pack, _ in spots[:given]})
    arenas = len(sizes)
    spots += [(place + arenas, 0) for place in range(len(memory.sizes) - memory.arenas)]
    places = {node: spots[place][0] for node, place in memory.places.items()}
    offsets = {node: spots[memory.places[node]][1] + offset for node, offset in memory.offsets.items()}
    pool = memory.pool - memory.arenas + arenas
    sizes += memory.sizes[memory.arenas :]
    blocks = {place - memory.arenas + arenas: number for place, number in memory.blocks.items()}
    return Packed(MemoryPlan(places, offsets, tuple(sizes), arenas, pool, memory.groups, blocks), before)
