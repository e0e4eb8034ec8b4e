"""A question whose schedule fails made small: by shrinking what was drawn, then by listed reductions of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.graph.graph import Graph, pruned
from conformance.cases.schedule.index_map import sizes
from conformance.runner.draws import shrink
from conformance.runner.schedules import DOMAINS, Asked, Asker, name_of
from conformance.runner.shrinking.reductions import reductions
from conformance.specs.schedules import EVERY

CALLS: Final = 150
"""New questions that shrinking one failure may ask, and the listed reductions of it after that."""

SLOW: Final = 15
"""The same where every answer costs a worker."""


def smallest(
    asker: Asker, domain: str, way: str, several: Sequence[Asked], examples: int, seed: int
) -> tuple[Asked, bool]:
    """Return the smallest question found that fails in this way, and whether no listed reduction is left."""
    start = min(several, key=lambda asked: (len(asker.ask(asked).ways), _size(asked)))
    calls = CALLS if way in EVERY else SLOW

    def fails(asked: Asked) -> bool:
        try:
            return way in asker.ask(asked).ways
        except (ValueError, IndexError, TypeError, KeyError):
            return False  # a reduction made a program that is malformed

    found = shrink(DOMAINS[domain], examples, seed, name_of(start), fails, calls, name_of) or start
    best = min(found, start, key=_size)
    left = calls
    while True:
        for smaller in _reductions(best):
            if _size(smaller) >= _size(best):
                continue
            left -= name_of(smaller) not in asker.known
            if left < 0:
                return best, False
            if fails(smaller):
                best = smaller
                break
        else:
            return best, True


def _size(asked: Asked) -> tuple[int, ...]:
    if isinstance(asked, Case):
        blocks = [block for operand in asked.inputs.values() for block in operand.blocks]
        layouts = [layout for operand in asked.inputs.values() for layout in operand.layouts]
        size = (
            sum(len(block.bits) + len(block.shape) for block in blocks),
            sum(each != "contiguous" for each in layouts),
        )
        text = msgspec.json.encode(asked.program)
        return (asked.program.world, len(asked.program.steps), *size, len(asked.program.results), len(text))
    devices = {node.device for node in asked.nodes}
    elements = sum(extent for node in asked.nodes for extent in sizes(node.shape, asked.most))
    ranges = sum(variable.high - variable.low for variable in asked.variables.values())
    length = len(msgspec.json.encode(asked))
    return len(asked.nodes), len(devices), len(asked.results), len(asked.variables), elements, ranges, length


def _reductions(asked: Asked) -> Iterator[Asked]:
    """Yield what is one listed reduction smaller: of a program those of ``reductions``; a graph loses a node."""
    if isinstance(asked, Case):
        yield from reductions(asked)
        return
    for result in asked.results if len(asked.results) > 1 else ():
        yield pruned(replace(asked, results=tuple(other for other in asked.results if other != result)))
    for name, each in asked.variables.items():
        fewer = {**asked.variables, name: replace(each, low=each.value)}
        yield replace(asked, variables=fewer)
    for node in asked.nodes:
        if node.op == "assign" and node.id not in asked.results:
            yield _without(asked, node.id, node.of[0])
        for source in node.of[:1]:
            at = next(other for other in asked.nodes if other.id == source)
            if (at.shape, at.dtype, at.device) == (node.shape, node.dtype, node.device) and node.op != "assign":
                yield _without(asked, node.id, source)


def _without(graph: Graph, gone: str, instead: str) -> Graph:
    """Return the graph without a node; another takes its place in its users and among the results."""
    nodes = tuple(
        replace(node, of=tuple(instead if source == gone else source for source in node.of))
        for node in graph.nodes
        if node.id != gone
    )
    results = tuple(dict.fromkeys(instead if result == gone else result for result in graph.results))
    return pruned(replace(graph, nodes=nodes, results=results))
