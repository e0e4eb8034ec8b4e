"""The listed reductions of graphs: a result, a range or a node less."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from conformance.cases.graph.graph import Graph, pruned


def graph_reductions(graph: Graph) -> Iterator[Graph]:
    """Yield every graph that is one listed reduction smaller; it may be larger in other ways."""
    for result in graph.results if len(graph.results) > 1 else ():
        yield pruned(replace(graph, results=tuple(other for other in graph.results if other != result)))
    for name, each in graph.variables.items():
        fewer = {**graph.variables, name: replace(each, low=each.value)}
        yield replace(graph, variables=fewer)
    for node in graph.nodes:
        if node.op == "assign" and node.id not in graph.results:
            yield _without(graph, node.id, node.of[0])
        for source in node.of[:1]:
            at = next(other for other in graph.nodes if other.id == source)
            if (at.shape, at.dtype, at.device) == (node.shape, node.dtype, node.device) and node.op != "assign":
                yield _without(graph, node.id, source)


def _without(graph: Graph, gone: str, instead: str) -> Graph:
    """Return the graph without a node; another takes its place in its users and among the results."""
    nodes = tuple(
        replace(node, of=tuple(instead if source == gone else source for source in node.of))
        for node in graph.nodes
        if node.id != gone
    )
    results = tuple(dict.fromkeys(instead if result == gone else result for result in graph.results))
    return pruned(replace(graph, nodes=nodes, results=results))
