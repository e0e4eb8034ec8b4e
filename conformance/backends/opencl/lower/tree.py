"""Tree: partial results rise along a binary tree of members, end results and blocks go down it.

The member at relative position i has children 2i + 1 and 2i + 2, counted from the root round the group.
"""

from __future__ import annotations

from conformance.backends.opencl.graph.node import Movement
from conformance.backends.opencl.lower.device_copies import fetched
from conformance.backends.opencl.lower.folds import Folding


def fold(folding: Folding, group: tuple[int, ...], wanted: tuple[int, ...]) -> dict[int, Movement]:
    """Return the end result on every ``wanted`` position: up to the first of them, down to the others."""
    size, root = len(group), wanted[0]
    ready = folding.ready()
    risen: dict[int, Movement] = {}
    for i in reversed(range(size)):
        here = (root + i) % size
        rank = group[here]
        below = tuple(fetched(risen[child], rank) for child in (2 * i + 1, 2 * i + 2) if child < size)
        operands = (ready[here], *below)
        risen[i] = folding.of_ready(rank, operands, last=i == 0) if below or i == 0 else ready[here]
    found = {root: risen[0]}
    for here in wanted[1:]:
        at = root
        for stop in path(root, here, size):
            if stop not in found:
                found[stop] = fetched(found[at], group[stop])
            at = stop
    return found


def path(source: int, destination: int, size: int) -> list[int]:
    """Return the positions from ``source``, the root of its own tree, down to ``destination``."""
    relative = (destination - source) % size
    up = []
    while relative:
        up.append((source + relative) % size)
        relative = (relative - 1) // 2
    return up[::-1]
