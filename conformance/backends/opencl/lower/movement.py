"""Operations that only move: the parts of each result, brought along the route of an algorithm and joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.backends.opencl.graph.node import Collective, Join, Movement, Part, whole
from conformance.backends.opencl.graph.view import contiguous
from conformance.backends.opencl.lower.arrivals import arrivals
from conformance.backends.opencl.lower.device_copies import fetched
from conformance.backends.opencl.lower.tree import path
from conformance.backends.opencl.settings import Algorithm

Route = Callable[[int, int, int], list[int]]
"""Take two positions and the group size; return the positions a block visits on its way, the last included."""


def _round(source: int, destination: int, size: int) -> list[int]:
    return [(source + step) % size for step in range(1, (destination - source) % size + 1)]


def _hop(_source: int, destination: int, _size: int) -> list[int]:
    return [destination]


ROUTES: Final[dict[Algorithm, Route | None]] = {
    "naive": _hop,
    "all_to_all": _hop,
    "ring": _round,
    "tree": path,
    # Read where it lies.
    "direct": None,
    "one_shot": None,
}


def moved(made: Collective, group: tuple[int, ...], algorithm: Algorithm) -> dict[int, Movement]:
    """Return the result of each member that receives one, every part copied hop by hop or read where it lies."""
    route, found = ROUTES[algorithm], {}
    for position, rank in enumerate(group):
        shape = made.shapes[rank]
        if shape is None:
            continue
        parts = []
        for arrival in arrivals(made, group, position):
            block = arrival.kept
            if arrival.source is not None:
                block = Movement(made.blocks[group[arrival.source]].node, arrival.taken)
                for stop in route(arrival.source, position, len(group)) if route else ():
                    # Parts that share the beginning of a way share the copies along it.
                    block = fetched(block, group[stop])
            elif block is not None:
                block = Movement(block.node, arrival.taken)
            parts.append(Part(arrival.at, block))
        found[rank] = whole(Join(rank, made.dtype, contiguous(shape).size, tuple(parts)), shape)
    return found
