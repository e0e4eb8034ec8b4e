"""Which nodes of a graph are names of storage, and which storage is assigned to, through calls of functions too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.cases.graph.extent import Values, sizes
from conformance.cases.graph.graph import MOVEMENT, Graph, Node
from conformance.reference.graph.movement import Stored, moved, stored_in

Assigned = tuple[str, Stored]
"""A node that assigns, itself or in the function that it calls, and what it assigns to."""


def storage_of(
    graph: Graph, nodes: Sequence[Node], arguments: Mapping[int, Stored], values: Values
) -> tuple[dict[str, Stored], tuple[Assigned, ...]]:
    """Return the elements that each name of storage names, and all that is assigned to, in program order.

    ``nodes`` are those of the graph or of a function, and ``arguments`` are those of its call that are storage.
    """
    found: dict[str, Stored] = {}
    assigned: list[Assigned] = []
    for node in nodes:
        first = found.get(node.of[0]) if node.of else None
        if node.op == "buf":
            found[node.id] = stored_in(str(node.arg), sizes(node.shape, values))
        elif node.op == "param" and int(str(node.arg)) in arguments:
            found[node.id] = arguments[int(str(node.arg))]
        elif node.op in MOVEMENT and first is not None:
            found[node.id] = Stored(first.buffer, moved(node, first.at, -1, values))
        elif node.op == "assign" and first is not None:
            found[node.id] = first
            assigned.append((node.id, first))
        elif node.op == "call":
            function = graph.functions[str(node.arg)]
            given = {at: found[source] for at, source in enumerate(node.of) if source in found}
            inner, written = storage_of(graph, function.nodes, given, values)
            assigned.extend((node.id, stored) for _, stored in written)
            if function.result in inner:
                found[node.id] = inner[function.result]
    return found, tuple(assigned)
