"""Where every value lies: storages of its own for what goes in and out, arenas for what is only on the way."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import msgspec

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Node
from conformance.backends.opencl.schedule.arena import Life, laid
from conformance.backends.opencl.schedule.item import Item, Transfer


class MemoryPlan(msgspec.Struct, frozen=True):
    """``places`` numbers the storage of every node, ``offsets`` has the byte of it where the node begins.

    ``sizes`` are the bytes of the storages; the last of them are arenas, from the one numbered ``arenas`` on.
    """

    places: dict[Node, int]
    offsets: dict[Node, int]
    sizes: tuple[int, ...]
    arenas: int


def memory_plan(
    items: Sequence[Item],
    kept: Collection[Node],
    roots: Mapping[Node, Node] = MappingProxyType({}),
    *,
    alignment: int,
    most: int | None,
) -> MemoryPlan:
    """Return the plan for items that run in order; nodes of ``kept`` are needed before or after, so share nothing.

    Nodes that ``roots`` names lie in the storage of another. All other nodes of a device lie in its arena, those that
    copies touch in one of their own, at multiples of ``alignment``; there are several where one would have more than
    ``most`` bytes. Without ``most`` each node has a storage of its own. Whoever writes what takes the bytes of others
    must wait for all who used those (``Hazards``).
    """
    lives: dict[Node, Life] = {}
    for number, item in enumerate(items):
        for access in item.accesses:
            node = roots.get(access.node, access.node)
            if node not in kept:
                first = lives[node].first if node in lives else number
                lives[node] = Life(_bytes(node), first, number)
    own = [*kept, *(lives if most is None else ())]
    places = {node: place for place, node in enumerate(own)}
    offsets = dict.fromkeys(own, 0)
    sizes = [_bytes(node) for node in own]
    copied = {access.node for item in items if isinstance(item, Transfer) for access in item.accesses}
    lanes: dict[tuple[int, bool], list[Node]] = {}
    for node in lives if most is not None else ():
        lanes.setdefault((node.device, node in copied), []).append(node)
    for nodes in lanes.values():
        spots, needed = laid([lives[node] for node in nodes], alignment, most or 0)
        for node, spot in zip(nodes, spots, strict=True):
            places[node], offsets[node] = len(sizes) + spot.arena, spot.offset
        sizes += needed
    for node, root in roots.items():
        if root in places:
            places[node], offsets[node] = places[root], offsets[root]
    return MemoryPlan(places, offsets, tuple(sizes), len(own))


def _bytes(node: Node) -> int:
    return node.size * FORMATS[node.dtype].itemsize
