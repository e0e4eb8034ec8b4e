"""Several graph cases side by side in one."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node


def packed(cases: Sequence[GraphCase]) -> GraphCase:
    """Return one case that asks in its rounds for what each of some cases asks for in its own.

    They have one round or two, all of whose nodes are there in the first, and no variables.
    """
    nodes = tuple(_renamed(node, at) for at, case in enumerate(cases) for node in case.graph.nodes)
    rounds = tuple(
        Round(
            until=len(nodes),
            writes={_name(name, at): held for at, each in parts for name, held in each.writes.items()},
            asked=tuple(_name(name, at) for at, each in parts for name in each.asked),
            read=tuple(_name(name, at) for at, each in parts for name in each.read),
        )
        for number in range(max(len(case.rounds) for case in cases))
        for parts in [[(at, case.rounds[number]) for at, case in enumerate(cases) if number < len(case.rounds)]]
    )
    results = tuple(_name(name, at) for at, case in enumerate(cases) for name in case.graph.results)
    buffers = {_name(name, at): held for at, case in enumerate(cases) for name, held in case.buffers.items()}
    return GraphCase(graph=Graph(nodes=nodes, results=results), buffers=buffers, rounds=rounds)


def _renamed(node: Node, at: int) -> Node:
    made = replace(node, id=_name(node.id, at), of=tuple(_name(name, at) for name in node.of))
    return replace(made, arg=_name(str(node.arg), at)) if node.op == "buf" else made


def _name(name: str, at: int) -> str:
    return f"{name}_{at}"
