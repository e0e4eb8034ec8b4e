"""Bold steps towards a smaller case: what the wrong value depends on, and then halves of that.

The listed reductions take one thing away at a time, so that hundreds of nodes take hundreds of answers. A leap is taken
where what is left fails alike, whatever it was that mattered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeVar

from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.graph.case import GraphCase, asked_key
from conformance.cases.graph.graph import LEAVES, Graph, Node, pruned
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import from_array
from conformance.reference.graph.evaluate import run
from conformance.runner.reductions.graph_cases import tidied
from conformance.runner.reductions.prefixes import heads, parts

T = TypeVar("T")

SHARES: Final = (0.5, 0.75, 0.25, 0.875)
"""Where a chain is cut, as shares of its length, the boldest first."""


def program_leaps(case: Case) -> Iterator[Case]:
    """Yield each collective of a program alone, what each result depends on, and the beginnings of the program.

    None are there where something befalls ranks: faults name steps by their number.
    """
    if case.faults or len(case.program.steps) < 2:
        return
    yield from parts(case)
    for name in case.program.results if len(case.program.results) > 1 else ():
        yield _sliced(case, name)
    yield from _spread(tuple(heads(case)))


def _sliced(case: Case, result: str) -> Case:
    """Return the program that one result depends on."""
    needed = {result}
    kept: list[Step] = []
    for step in reversed(case.program.steps):
        if needed & {*step.outputs, *step.into}:
            needed |= {*step.inputs, *step.into}
            kept.append(step)
    program = replace(case.program, steps=tuple(reversed(kept)), results=(result,))
    named = {name for step in kept for name in (*step.inputs, *step.into)} | {result}
    return replace(case, program=program, inputs={name: each for name, each in case.inputs.items() if name in named})


def graph_case_leaps(case: GraphCase) -> Iterator[GraphCase]:
    """Yield the case that asks for one value, for one halfway to it, and that begins with what was right halfway."""
    asked = [(number, name) for number, each in enumerate(case.rounds) for name in each.asked]
    for number, name in asked if len(asked) > 1 or any(each.read for each in case.rounds) else ():
        rounds = [replace(each, asked=(), read=()) for each in case.rounds]
        rounds[number] = replace(rounds[number], asked=(name,))
        yield tidied(replace(case, rounds=tuple(rounds)))
    for number, name in asked:
        for source in _spread(_before(case.graph.nodes, name)):
            each = case.rounds[number]
            instead = replace(each, asked=tuple(dict.fromkeys(source if o == name else o for o in each.asked)))
            yield tidied(replace(case, rounds=(*case.rounds[:number], instead, *case.rounds[number + 1 :])))
    yield from _begun_later(case)


def _begun_later(case: GraphCase) -> Iterator[GraphCase]:
    """Yield the case whose first nodes are buffers that hold what the nodes are worth."""
    nodes = case.graph.nodes
    if len(case.rounds) > 1 or any(node.op in ("assign", "call") for node in nodes) or case.graph.variables:
        return
    for share in sorted(SHARES, reverse=True):
        cut = int(share * len(nodes))
        taken = {name for node in nodes[cut:] for name in node.of} | {*case.rounds[0].asked}
        given = [node for node in nodes[:cut] if node.id in taken and node.op not in LEAVES]
        worth = _worth(case, [node.id for node in given])
        if given and worth:
            yield _given(case, given, worth)


def _worth(case: GraphCase, names: Iterable[str]) -> Mapping[str, Array]:
    """Return what nodes of a case of one round are worth; nothing where the reference cannot say."""
    asked = tuple(names)
    graph = replace(case.graph, results=asked)
    try:
        made = run(replace(case, graph=graph, rounds=(replace(case.rounds[0], asked=asked, read=()),))).results
    except ValueError:
        return {}
    return {name: made[asked_key(0, name)].array for name in asked if asked_key(0, name) in made}


def _given(case: GraphCase, nodes: Iterable[Node], worth: Mapping[str, Array]) -> GraphCase:
    instead = {
        node.id: Node(
            id=node.id, op="buf", shape=node.shape, dtype=node.dtype, device=node.device, arg=f"{node.id}_given"
        )
        for node in nodes
        if node.id in worth
    }
    graph = replace(case.graph, nodes=tuple(instead.get(node.id, node) for node in case.graph.nodes))
    held = {f"{name}_given": from_array(worth[name]) for name in instead}
    return tidied(replace(case, graph=graph, buffers={**case.buffers, **held}))


def graph_leaps(graph: Graph) -> Iterator[Graph]:
    """Yield the graph of one result, of one halfway to it, and that which begins with buffers halfway."""
    for result in graph.results if len(graph.results) > 1 else ():
        yield pruned(replace(graph, results=(result,)))
    for result in graph.results:
        for source in _spread(_before(graph.nodes, result)):
            others = tuple(dict.fromkeys(source if other == result else other for other in graph.results))
            yield pruned(replace(graph, results=others))
    for share in sorted(SHARES, reverse=True):
        cut = int(share * len(graph.nodes))
        first = tuple(
            node
            if node.op in (*LEAVES, "assign") or not all(isinstance(extent, int) for extent in node.shape)
            else Node(
                id=node.id, op="buf", shape=node.shape, dtype=node.dtype, device=node.device, arg=f"{node.id}_given"
            )
            for node in graph.nodes[:cut]
        )
        yield pruned(replace(graph, nodes=(*first, *graph.nodes[cut:])))


def _before(nodes: Iterable[Node], name: str) -> tuple[str, ...]:
    """Return the computed nodes that a node is made of, in order."""
    listed = list(nodes)
    needed = {name}
    for node in reversed(listed):
        if node.id in needed:
            needed.update(node.of)
    return tuple(node.id for node in listed if node.id in needed - {name} and node.op not in LEAVES)


def _spread(each: tuple[T, ...]) -> Iterator[T]:
    """Yield what stands at some shares of a row, each once."""
    yield from (each[at] for at in dict.fromkeys(int(share * len(each)) for share in SHARES) if at < len(each))
