"""Which part of a storage a command binds: as little as it touches, widened to where a sub-buffer may begin."""

from __future__ import annotations

import math
from collections.abc import Iterable

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Node
from conformance.backends.opencl.graph.view import View, contiguous
from conformance.backends.opencl.schedule.item import Region

Span = tuple[int, int]
"""Elements from the first number up to the second."""


def reach(view: View, first: int, size: int) -> Span:
    """Return the elements of a storage that ``size`` elements of a view, from ``first`` in C order, may touch."""
    if view.strides == contiguous(view.shape).strides:
        return view.offset + first, view.offset + first + size
    return view.span


def region(node: Node, span: Span, alignment: int) -> Region:
    """Return the smallest region that holds ``span`` and lies between multiples of ``alignment`` bytes."""
    grain = max(1, math.lcm(alignment, FORMATS[node.dtype].itemsize) // FORMATS[node.dtype].itemsize)
    first = span[0] // grain * grain
    return Region(node, first, min(node.size, -(-span[1] // grain) * grain) - first)


def regions(reads: Iterable[tuple[Node, Span]], alignment: int) -> dict[Node, Region]:
    """Return for each node, in order of first mention, the one region that holds all that is read of it."""
    spans: dict[Node, Span] = {}
    for node, (start, stop) in reads:
        low, high = spans.get(node, (start, stop))
        spans[node] = min(low, start), max(high, stop)
    return {node: region(node, span, alignment) for node, span in spans.items()}
