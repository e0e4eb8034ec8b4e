"""Movement upon movement, and nodes that differ in one number."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Final

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.specs.graphs.domain.edges.pattern import Pattern
from conformance.specs.graphs.domain.listing import Edge


def _counted_beyond(e: Edge) -> list[Node]:
    """Count further than a dtype has numbers."""
    found = []
    for dtype in ("int8", "uint8", "int32"):
        line = e.asked.add("iota", (300,), dtype, device="d0", arg=0)
        found += [line, e.fold("max", line, 0), e.fold("add", line, 0)]
    for dtype, count in (("bfloat16", 300), ("float16", 2060)):
        found.append(e.asked.add("iota", (2, count), dtype, device="d0", arg=1))
    return found


MOVES: Final[Mapping[str, Pattern]] = {
    "two pads of one": lambda e: [
        node
        for source in (e.i, e.alu("not", e.i))
        for sides in (((1, 2), (0, 1)), ((2, 1), (0, 1)), ((0, 3), (1, 0)))
        for node in (e.pad(source, *sides), e.alu("not", e.pad(source, *sides)))
    ],
    "moved twice": lambda e: [
        e.pad(e.pad(e.alu("not", e.i), (1, 0), (0, 2)), (0, 2), (3, 1)),
        e.shrink(e.pad(e.alu("not", e.i), (2, 1), (0, 3)), (0, 3), (2, 8)),
        e.stride(e.flip(e.i, 1), 2, 4),
        e.stride(e.stride(e.i, 1, -2), -3, 2),
        e.flip(e.stride(e.flip(e.i, 0, 1), 3, 4), 1),
        e.turn(e.fold("max", e.turn(e.spread(e.i, 2), 2, 0, 1), 0), 1, 0),
    ],
    "counted and moved": lambda e: [
        *_counted_beyond(e),
        e.shrink(e.iota(), (1, 3), (2, 6)),
        e.stride(e.iota(), 1, -4),
        e.pad(e.flip(e.iota(), 1), (1, 0), (0, 2)),
        e.fold("max", e.flip(e.shrink(e.iota(), (0, 4), (1, 5)), 1), 0),
    ],
    "axes of one element": lambda e: [
        made
        for first, second in permutations(((4, 6), (4, 1, 6), (1, 4, 6), (4, 6, 1), (6, 1, 4), (1, 4, 6, 1)), 2)
        for taken in [e.asked.moved("reshape", first, e.i)]
        for made in (e.asked.moved("reshape", second, taken), e.asked.moved("reshape", second, e.alu("not", taken)))
    ],
    "turned round": lambda e: [
        e.turn(e.turn(e.buf(np.arange(24).reshape(2, 3, 4), "int32"), 1, 2, 0), *axes)
        for axes in ((1, 2, 0), (2, 0, 1), (0, 2, 1))
    ],
    "nearly one node": lambda e: [
        *(e.alu("add", e.i, e.const(value, e.i)) for value in (1, 2)),
        *(e.cast(e.i, dtype) for dtype in ("int32", "uint32", "int16", "float32")),
        *(e.alu("not", e.shrink(e.i, (at, at + 2), (at, at + 4))) for at in (0, 1, 2)),
        *(e.alu("not", e.flip(e.i, *axes)) for axes in ((0,), (1,), (0, 1))),
        *(e.alu("not", e.stride(e.i, *steps)) for steps in ((2, 2), (-2, 2), (2, -2), (1, 1))),
        *(e.fold(word, e.i, axis) for word in ("max", "min", "xor") for axis in (0, 1)),
    ],
}
"""Moves that are joined, and nodes that a cache may take for one another."""
