"""The listed reductions of graph cases: a value, a round, a node, a buffer or a number less."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Graph, Node, variables_of
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import from_array, to_array


def graph_case_reductions(case: GraphCase) -> Iterator[GraphCase]:
    """Yield every case that is one listed reduction smaller, the boldest first; some may be malformed."""
    yield from _one_value(case)
    yield from _fewer_rounds(case)
    yield from _cut_short(case)
    yield from _fewer_values(case)
    yield from _fewer_nodes(case)
    yield from _plainer_data(case)


def tidied(case: GraphCase) -> GraphCase:
    """Return a case without nodes that nothing asked for, read or assigned is made of, and buffers nobody names."""
    needed = {name for each in case.rounds for name in each.asked}
    needed |= {node.id for node in case.graph.nodes if node.op == "assign"}
    for node in reversed(case.graph.nodes):
        if node.id in needed:
            needed.update(node.of)
    kept = [node.id in needed for node in case.graph.nodes]
    nodes = tuple(node for node, keep in zip(case.graph.nodes, kept, strict=True) if keep)
    read = {name for each in case.rounds for name in each.read}
    used = {str(node.arg) for node in nodes if node.op == "buf"} | read
    called = {str(node.arg) for node in nodes if node.op == "call"}
    spoken = {name for node in nodes for name in variables_of(node)}
    variables = {name: each for name, each in case.graph.variables.items() if name in spoken}
    rounds = tuple(
        replace(
            each,
            until=sum(kept[: each.until]),
            writes={name: value for name, value in each.writes.items() if name in used},
            values={name: value for name, value in each.values.items() if name in variables},
        )
        for each in case.rounds
    )
    graph = Graph(
        nodes=nodes,
        results=tuple(dict.fromkeys(name for each in rounds for name in each.asked)),
        functions={name: each for name, each in case.graph.functions.items() if name in called},
        variables=variables,
    )
    return GraphCase(
        graph=graph, buffers={name: each for name, each in case.buffers.items() if name in used}, rounds=rounds
    )


def _rounds(case: GraphCase, *rounds: Round) -> GraphCase:
    return tidied(replace(case, rounds=rounds))


def _bare(each: Round) -> Round:
    return replace(each, asked=(), read=())


def _one_value(case: GraphCase) -> Iterator[GraphCase]:
    """Yield the case that asks for one value alone, of all rounds."""
    total = sum(len(each.asked) + len(each.read) for each in case.rounds)
    for number, each in enumerate(case.rounds if total > 1 else ()):
        others = [_bare(other) for other in case.rounds]
        for name in each.asked:
            others[number] = replace(_bare(each), asked=(name,))
            yield _rounds(case, *others)
        for name in each.read:
            others[number] = replace(_bare(each), read=(name,))
            yield _rounds(case, *others)


def _fewer_rounds(case: GraphCase) -> Iterator[GraphCase]:
    """Yield the case with two rounds as one, and without the last."""
    rounds = case.rounds
    for number in range(1, len(rounds)):
        one, two = rounds[number - 1], rounds[number]
        both = replace(
            two,
            writes=one.writes | two.writes,
            asked=tuple(dict.fromkeys((*one.asked, *two.asked))),
            read=tuple(dict.fromkeys((*one.read, *two.read))),
        )
        yield _rounds(case, *rounds[: number - 1], both, *rounds[number + 1 :])
        yield _rounds(case, *rounds[: number - 1], replace(both, writes=two.writes), *rounds[number + 1 :])
    if len(rounds) > 1:
        last = rounds[-2].until
        yield tidied(replace(case, graph=replace(case.graph, nodes=case.graph.nodes[:last]), rounds=rounds[:-1]))


def _cut_short(case: GraphCase) -> Iterator[GraphCase]:
    """Yield the case that asks for a source, or a source's source, in the place of what it asks for."""
    nodes = {node.id: node for node in case.graph.nodes}
    for number, each in enumerate(case.rounds):
        for name in each.asked:
            near = nodes[name].of
            far = tuple(source for one in near for source in nodes[one].of)
            for source in dict.fromkeys((*far, *near)):
                asked = tuple(dict.fromkeys(source if other == name else other for other in each.asked))
                yield _rounds(case, *case.rounds[:number], replace(each, asked=asked), *case.rounds[number + 1 :])


def _fewer_values(case: GraphCase) -> Iterator[GraphCase]:
    """Yield the case without one value, one buffer read, or one write from outside."""
    for number, each in enumerate(case.rounds):
        before, after = case.rounds[:number], case.rounds[number + 1 :]
        for name in each.asked:
            rest = tuple(other for other in each.asked if other != name)
            yield _rounds(case, *before, replace(each, asked=rest), *after)
        for name in each.read:
            yield _rounds(
                case, *before, replace(each, read=tuple(other for other in each.read if other != name)), *after
            )
        for name in each.writes:
            fewer = {other: value for other, value in each.writes.items() if other != name}
            yield _rounds(case, *before, replace(each, writes=fewer), *after)


def _fewer_nodes(case: GraphCase) -> Iterator[GraphCase]:
    """Yield the case without one node: a source, a buffer or a constant like it stands in its place."""
    for at, node in enumerate(case.graph.nodes):
        if node.op == "buf":
            continue
        for other in case.graph.nodes[:at]:
            if other.id in node.of and _alike(other, node):
                yield _replaced(case, node.id, other.id)
        if node.op == "assign":
            yield _replaced(case, node.id, node.of[0])
        elif all(isinstance(extent, int) for extent in node.shape) and len(node.of) > 0:
            yield _given(case, at)
    for name, each in case.graph.variables.items():
        yield replace(
            case,
            graph=replace(case.graph, variables={**case.graph.variables, name: replace(each, low=each.value)}),
        )


def _alike(one: Node, other: Node) -> bool:
    return (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device)


def _replaced(case: GraphCase, gone: str, instead: str) -> GraphCase:
    def renamed(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(instead if name == gone else name for name in names)

    at = next(number for number, node in enumerate(case.graph.nodes) if node.id == gone)
    nodes = tuple(replace(node, of=renamed(node.of)) for node in case.graph.nodes if node.id != gone)
    rounds = [
        replace(each, until=each.until - (each.until > at), asked=tuple(dict.fromkeys(renamed(each.asked))))
        for each in case.rounds
    ]
    return _rounds(replace(case, graph=replace(case.graph, nodes=nodes)), *rounds)


def _given(case: GraphCase, at: int) -> GraphCase:
    """Return the case in which a node is a buffer of its own, of ones."""
    node = case.graph.nodes[at]
    name = f"{node.id}_given"
    ones = from_array(np.ones(sizes(node.shape, {})).astype(NUMPY[node.dtype]))
    nodes = (*case.graph.nodes[:at], replace(_buffer(node), arg=name), *case.graph.nodes[at + 1 :])
    return tidied(
        GraphCase(graph=replace(case.graph, nodes=nodes), buffers={**case.buffers, name: ones}, rounds=case.rounds)
    )


def _buffer(node: Node) -> Node:
    return Node(id=node.id, op="buf", shape=node.shape, dtype=node.dtype, device=node.device)


def _plainer_data(case: GraphCase) -> Iterator[GraphCase]:
    """Yield the case with ones, or with only one element that is none, in a buffer or in what is written into it."""
    for name, held in case.buffers.items():
        array = to_array(held)
        if array.size and kind(held.dtype) != "bool":
            ones = np.ones(array.shape).astype(array.dtype)
            if from_array(ones) != held:
                yield replace(case, buffers={**case.buffers, name: from_array(ones)})
                for at in range(min(array.size, 16)):
                    mixed = array.copy()
                    mixed.reshape(-1)[at] = 1
                    if from_array(mixed) != held:
                        yield replace(case, buffers={**case.buffers, name: from_array(mixed)})
