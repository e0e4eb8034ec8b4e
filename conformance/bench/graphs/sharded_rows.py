"""Rows of tensors over several devices: each is a program on sharded tensors as one graph over its devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from conformance.backends.lowering import lowered
from conformance.bench.graphs.rows import Row
from conformance.bench.graphs.tensors import GraphListing, Lazy
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement, Split, even_cuts

LARGE: Final = (64, 8192)
"""A shape whose sum of rows has so many elements that large parts are folded in another way than small ones."""


def sharded_rows() -> Iterator[Row]:
    """Yield rows 124 to 129; of the last three no test of tinygrad says a count, and 0.14.0 makes as many."""
    yield _row(124, "two devices, elementwise", 2, (4, 4), 2, lambda x: x + x)
    yield _row(125, "four devices, sum of another axis", 4, (8, 4), 4, lambda x: x.sum(1))
    yield _row(126, "four devices, sum along the split axis", 8, (8, 4), 4, lambda x: x.sum(0))
    yield _row(127, "the same of many elements, in a ring there", 48, LARGE, 4, lambda x: x.sum(0))
    yield _row(128, "the same of many elements, all to all there", 32, LARGE, 4, lambda x: x.sum(0))
    yield _row(129, "two devices, gathered on one", 1, (4, 4), 2, None)


def _row(
    number: int, what: str, count: int, shape: tuple[int, int], devices: int, made: Callable[[Lazy], Lazy] | None
) -> Row:
    """Return the row of what is made of a tensor whose rows are on several devices; ``None`` is a copy on the first."""
    listing = GraphListing()
    x = listing.buffer(*shape)
    asked = x if made is None else made(x)
    nodes = list(listing.nodes)
    moves: dict[str, Placement] = {}
    if made is None:
        nodes.append(Node(id="out", op="copy", of=(x.node.id,), shape=shape, dtype=x.dtype, device=x.node.device))
        moves["out"] = Placement(masks={"i": (True, *(False,) * (devices - 1))})
    of, result = listing.case((asked,)), nodes[-1].id
    graph = Graph(nodes=tuple(nodes), results=(result,))
    whole = GraphCase(graph=graph, buffers=of.buffers, rounds=(Round(until=len(nodes), asked=(result,)),))
    split = Split(axis=0, along=("i",), cuts=even_cuts(shape[0], devices))
    case = ShardedCase(
        mesh=(Axis("i", devices),),
        devices=tuple(range(devices)),
        of=whole,
        homes={"b0": Placement(splits=(split,))},
        moves=moves,
    )
    return Row(number, what, None, count, lowered(case, checked=False)[0])
