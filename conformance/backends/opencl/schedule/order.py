"""Which nodes a result needs, and in which order devices can work side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from conformance.backends.opencl.graph.node import (
    Movement,
    Node,
    Write,
    Written,
    before,
    needs,
)


def reachable(results: tuple[Movement, ...]) -> list[Node]:
    """Return the nodes the results need, by depth, then in order of discovery; nodes without elements are dead.

    A write comes after all that read the storage as it was before.
    """
    found = _by_depth(results, {})
    behind = readers(found)
    return _by_depth(results, behind) if behind else found


Readers = Mapping[Node, tuple[Node, ...]]
"""For each write the nodes that read the storage as it was before."""


def readers(nodes: Sequence[Node]) -> Readers:
    """Return what every write among ``nodes`` comes after, beside what it needs."""
    writes: dict[Node, Node] = {before(node): node for node in nodes if isinstance(node, Write | Written)}
    if not writes:
        return {}
    found: dict[Node, list[Node]] = {write: [] for write in writes.values()}
    for node in nodes:
        for read in needs(node):
            write = writes.get(read)
            if write is not None and write is not node:
                found[write].append(node)
    return {write: tuple(dict.fromkeys(nodes)) for write, nodes in found.items()}


def _by_depth(results: tuple[Movement, ...], behind: Readers) -> list[Node]:
    depth: dict[Node, int] = {}
    stack = [(block.node, False) for block in reversed(results) if block.node.size]
    while stack:
        node, ready = stack.pop()
        if ready:
            depth[node] = 1 + max((depth[each] for each in _earlier(node, behind)), default=-1)
        elif node not in depth:
            stack.append((node, True))
            stack.extend((each, False) for each in reversed(_earlier(node, behind)) if each not in depth)
    return sorted(depth, key=depth.__getitem__)


Turns = Mapping[Node, tuple[int, ...]]
"""The call and the group that a node belongs to, and what of the call, by number; calls come after those they need."""


def staged(order: list[Node], stages: Mapping[Node, int], turns: Turns) -> list[tuple[Node, int]]:
    """Return the nodes of ``order``, each after what it needs, with their stages.

    They come by stage, no earlier than it says or its needs are, and then by turn: what belongs to no collective comes
    after the last one it needs.
    """
    behind = readers(order)
    found: dict[Node, int] = {}
    ranked: dict[Node, tuple[float, ...]] = {}
    for node in order:
        earlier = _earlier(node, behind)
        found[node] = max([stages.get(node, 0), *(found[each] for each in earlier)])
        ranked[node] = turns.get(node) or (max((ranked[each][0] for each in earlier), default=-1.0), math.inf)
    return sorted(found.items(), key=lambda pair: (pair[1], *ranked[pair[0]]))


def _earlier(node: Node, behind: Readers) -> Sequence[Node]:
    after = behind.get(node)
    return (*needs(node), *after) if after else needs(node)
