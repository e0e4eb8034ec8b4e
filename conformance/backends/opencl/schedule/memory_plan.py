"""Where every value lies: storages of its own for what goes in and out, shared ones for what is only on the way."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import msgspec

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Node
from conformance.backends.opencl.schedule.item import Item


class MemoryPlan(msgspec.Struct, frozen=True):
    """``places`` numbers the storage of every node; ``sizes`` are their bytes."""

    places: dict[Node, int]
    sizes: tuple[int, ...]


def memory_plan(
    items: Sequence[Item], kept: Collection[Node], roots: Mapping[Node, Node] = MappingProxyType({}), *, reuse: bool
) -> MemoryPlan:
    """Return the plan for items that run in order; nodes of ``kept`` are needed before or after, so share nothing.

    Nodes that ``roots`` names lie in the storage of another, which is kept.
    With ``reuse`` a node takes the storage of an earlier one of its device that no later item touches, the smallest
    that is large enough. Whoever writes it must wait for whoever used it, which edges over places say.
    """
    last: dict[Node, int] = {}
    for number, item in enumerate(items):
        for access in item.accesses:
            last[roots.get(access.node, access.node)] = number
    places: dict[Node, int] = {}
    sizes: list[int] = []
    free: dict[int, list[int]] = {}
    for node in kept:
        places[node] = len(sizes)
        sizes.append(_bytes(node))
    for number, item in enumerate(items):
        nodes = [roots.get(access.node, access.node) for access in item.accesses]
        for node in nodes:
            if node not in places:
                places[node] = _taken(node, free.setdefault(node.device, []), sizes)
        if reuse:
            done = [node for node in set(nodes) if last[node] == number and node not in kept]
            for node in sorted(done, key=places.__getitem__):
                free.setdefault(node.device, []).append(places[node])
    places.update({node: places[root] for node, root in roots.items() if root in places})
    return MemoryPlan(places, tuple(sizes))


def _taken(node: Node, free: list[int], sizes: list[int]) -> int:
    size = _bytes(node)
    fitting = [place for place in free if sizes[place] >= size]
    if fitting:
        best = min(fitting, key=sizes.__getitem__)
        free.remove(best)
        return best
    sizes.append(size)
    return len(sizes) - 1


def _bytes(node: Node) -> int:
    return node.size * FORMATS[node.dtype].itemsize
