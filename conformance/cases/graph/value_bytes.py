"""How many bytes the values of a graph have at most, known before any is computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from conformance.cases.graph.extent import Values, sizes
from conformance.cases.graph.graph import Function, Graph, Node
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.footprint import ValueBytes

INDEX: Final = 8
"""Bytes of an index: of what is a name of storage the reference has one for each element."""


def graph_values(graph: Graph, copies: int = 1) -> Iterator[ValueBytes]:
    """Yield each node of a graph and how many bytes its value has at most, on so many devices that have all of it.

    A call has what its function computes, each time. Of a node that is malformed nothing is known.
    """
    most = graph.most
    bodies: dict[str, int] = {}
    for node in graph.nodes:
        inner = _called(str(node.arg), graph.functions, most, bodies) if node.op == "call" else 0
        yield f"node {node.id!r:.80} ({node.op})", copies * (_size(node, most) + inner)


def _called(name: str, functions: Mapping[str, Function], most: Values, known: dict[str, int]) -> int:
    """Return the bytes of what a function computes, calls in it included; of one under way nothing (a cycle)."""
    if name not in known and name in functions:
        known[name] = 0
        nodes = functions[name].nodes
        known[name] = sum(_size(node, most) for node in nodes) + sum(
            _called(str(node.arg), functions, most, known) for node in nodes if node.op == "call"
        )
    return known.get(name, 0)


def _size(node: Node, most: Values) -> int:
    if node.dtype not in NUMPY:
        return 0
    try:
        return math.prod(max(0, extent) for extent in sizes(node.shape, most)) * max(INDEX, NUMPY[node.dtype].itemsize)
    except KeyError:
        return 0
