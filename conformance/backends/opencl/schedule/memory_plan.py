"""Where every value lies: storages of its own for what goes in and out, arenas for what is only on the way.

Operands of collectives that are in communication buffers lie in a pool of their own (``communication_pool``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import msgspec

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Node
from conformance.backends.opencl.graph.registration import Group, Registered
from conformance.backends.opencl.schedule.arena import Life, laid
from conformance.backends.opencl.schedule.communication_pool import pooled
from conformance.backends.opencl.schedule.item import Item, Transfer


class MemoryPlan(msgspec.Struct, frozen=True):
    """``places`` numbers the storage of every node, ``offsets`` has the byte of it where the node begins.

    ``sizes`` are the bytes of the storages; the last of them are arenas, from the one numbered ``arenas`` on, and
    behind those, from ``pool`` on, the blocks of the communication pool, which last from one run to the next.
    ``groups`` has the group of every communication buffer, and ``blocks`` the number of the block of each such storage.
    """

    places: dict[Node, int]
    offsets: dict[Node, int]
    sizes: tuple[int, ...]
    arenas: int
    pool: int
    groups: dict[Node, Group] = {}
    blocks: dict[int, int] = {}


def memory_plan(
    items: Sequence[Item],
    kept: Collection[Node],
    roots: Mapping[Node, Node] = MappingProxyType({}),
    *,
    alignment: int,
    most: int | None,
    registered: Sequence[Registered] = (),
) -> MemoryPlan:
    """Return the plan for items that run in order; nodes of ``kept`` are needed before or after, so share nothing.

    Nodes that ``roots`` names lie in the storage of another. All other nodes of a device lie in its arena, those that
    copies touch in one of their own, at multiples of ``alignment``; there are several where one would have more than
    ``most`` bytes. Those of ``registered`` lie in the communication pool. Without ``most`` each node has a storage of
    its own. Whoever writes what takes the bytes of others must wait for all who used those (``Hazards``).
    """
    lives: dict[Node, Life] = {}
    for number, item in enumerate(items):
        for access in item.accesses:
            node = roots.get(access.node, access.node)
            if node not in kept:
                first = lives[node].first if node in lives else number
                lives[node] = Life(_bytes(node), first, number)
    copied = {roots.get(a.node, a.node) for item in items if isinstance(item, Transfer) for a in item.accesses}
    found = pooled(registered, lives, roots, copied, shared=most is not None)
    groups = {node: block.group for block in found for user in block.users for node in user}
    lives = {node: life for node, life in lives.items() if node not in groups}
    own = [*kept, *(lives if most is None else ())]
    places = {node: place for place, node in enumerate(own)}
    offsets = dict.fromkeys(own, 0)
    sizes = [_bytes(node) for node in own]
    lanes: dict[tuple[int, bool], list[Node]] = {}
    for node in lives if most is not None else ():
        lanes.setdefault((node.device, node in copied), []).append(node)
    for nodes in lanes.values():
        spots, needed = laid([lives[node] for node in nodes], alignment, most or 0)
        for node, spot in zip(nodes, spots, strict=True):
            places[node], offsets[node] = len(sizes) + spot.arena, spot.offset
        sizes += needed
    pool = len(sizes)
    blocks: dict[int, int] = {}
    for number, block in enumerate(found):
        for position, _ in enumerate(block.group):
            blocks[len(sizes)] = number
            places |= {user[position]: len(sizes) for user in block.users}
            offsets |= {user[position]: 0 for user in block.users}
            sizes.append(block.size)
    for node, root in roots.items():
        if root in places:
            places[node], offsets[node] = places[root], offsets[root]
    return MemoryPlan(places, offsets, tuple(sizes), len(own), pool, groups, blocks)


def _bytes(node: Node) -> int:
    return node.size * FORMATS[node.dtype].itemsize
