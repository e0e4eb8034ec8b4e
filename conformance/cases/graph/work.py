"""How much work a graph asks for: each node once, and of a call what its function does, each time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final

from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.extent import Values, countable, sizes
from conformance.cases.graph.graph import Function, Graph, Node
from conformance.cases.work import NamedAmount

EACH: Final = 25_000
"""Steps of a node whatever it has: a chain of 65,536 nodes is read, evaluated and judged in 17 s."""

ELEMENT: Final = 10
"""Steps of an element: 60 sines of 2^20 elements each, with their bounds, take 5 s."""

FOLDED: Final = 800
"""Steps of a term of a sum: the bound of one of 2^20 terms takes 6.5 s (``reference.graph.long_sums``)."""

MOST_FOLDED: Final = 1 << 22
"""Terms up to which that bound is computed."""

ROUND: Final = 2_000
"""Steps of a name that a round asks for or reads."""


def graph_work(graph: Graph, copies: int = 1) -> Iterator[NamedAmount]:
    """Yield each node of a graph and the steps that it takes, on so many devices that have all of it."""
    most = graph.most
    known: dict[str, int] = {}
    shapes = {node.id: node for node in graph.nodes}
    for node in graph.nodes:
        steps = _steps(node, shapes, most) + _called(node, graph.functions, most, known)
        yield f"node {node.id!r:.80} ({node.op})", copies * steps


def graph_case_work(case: GraphCase, copies: int = 1) -> Iterator[NamedAmount]:
    """Yield what a case asks for: what its graph does, and what each round asks for."""
    yield from graph_work(case.graph, copies)
    shapes = {node.id: node for node in case.graph.nodes}
    for number, each in enumerate(case.rounds):
        shown = sum(_elements(shapes[name], case.graph.most) for name in each.asked if name in shapes)
        shown += sum(math.prod(case.buffers[name].shape) for name in each.read if name in case.buffers)
        yield f"round {number}", copies * (ROUND * (1 + len(each.asked) + len(each.read)) + ELEMENT * shown)


def _called(node: Node, functions: Mapping[str, Function], most: Values, known: dict[str, int]) -> int:
    """Return the steps of what a node calls, calls in it included; of a function under way nothing (a cycle)."""
    name = str(node.arg)
    if node.op != "call" or name not in functions:
        return 0
    if name not in known:
        known[name] = 0
        nodes = functions[name].nodes
        shapes = {each.id: each for each in nodes}
        known[name] = sum(_steps(each, shapes, most) + _called(each, functions, most, known) for each in nodes)
    return known[name]


def _steps(node: Node, shapes: Mapping[str, Node], most: Values) -> int:
    given = sum(_elements(shapes[name], most) for name in node.of if name in shapes)
    summed = node.op == "reduce" and node.fold == "add" and not node.dtype.startswith(("int", "uint", "bool"))
    folded = FOLDED * min(given, MOST_FOLDED) if summed else 0
    return EACH + folded + ELEMENT * (_elements(node, most) + given)


def _elements(node: Node, most: Values) -> int:
    """Return the elements of a node, at most; of one that is malformed nothing is known."""
    try:
        shape = sizes(node.shape, most)
    except KeyError:
        return 0
    return math.prod(shape) if countable(shape) else 0
