"""Which node of the graph a kernel finishes that a compiler made, where only its buffers are known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from conformance.cases.graph.graph import MOVEMENT, Graph
from conformance.cases.schedule.kernel_body import Constant, Load, Store
from conformance.cases.schedule.schedule import Access, Kernel, Place

_MOVING: Final = (Load, Constant, Store)

COMPUTED: Final = ("alu", "cast", "bitcast", "reduce", "gather")
"""Nodes whose last write in a result's own memory is known to finish them. Movement and constants that are asked for
have to be written too, for a compiled function returns arrays of its own, and are said to be nobody's."""


def labelled(kernels: list[Kernel], places: list[Place], graph: Graph) -> Iterator[Kernel]:
    """Yield the items, those that write a result's own memory last with the node that they finish.

    What is written to storage of the graph is the one assign to it. Of several, which may be one write, no item says
    that it does one, nor what else it computes.
    """
    nodes = {node.id: node for node in graph.nodes}
    # What is made of no element, or of constants, is one, and XLA writes it all the same: a result is an array.
    varying = {node.id for node in graph.nodes if node.op in ("buf", "var") and 0 not in node.shape}
    for node in graph.nodes:
        varying.update([node.id] if varying.intersection(node.of) else [])
    assigns = _assigns(graph)
    last: dict[str, str] = {}
    for kernel in kernels:
        last |= {access.buffer: kernel.id for access in kernel.accesses if access.write}
    named = {
        (last[each.buffer], each.buffer): each.node
        for each in places
        if each.buffer in last and nodes[each.node].op in COMPUTED and each.node in varying
    }
    for kernel in kernels:
        # What only moves was computed by another, or is a constant, which has to be in an array of its own too.
        moves = kernel.bodies and all(isinstance(line, _MOVING) for body in kernel.bodies for line in body.instructions)
        labels = [
            _label(access, None if moves else named.get((kernel.id, access.buffer)), assigns)
            for access in kernel.accesses
        ]
        stored = any(
            access.write and access.buffer in assigns and label is None
            for access, label in zip(kernel.accesses, labels, strict=True)
        )
        yield replace(
            kernel,
            accesses=tuple(replace(access, node=label) for access, label in zip(kernel.accesses, labels, strict=True)),
            provenance=() if stored else tuple(dict.fromkeys(label for label in labels if label is not None)),
        )


def _label(access: Access, finished: str | None, assigns: dict[str, list[str]]) -> str | None:
    """Return the node whose value an access writes, where one is known."""
    if not access.write:
        return None
    own = assigns.get(access.buffer)
    return finished if own is None else own[0] if len(own) == 1 else None


def _assigns(graph: Graph) -> dict[str, list[str]]:
    """Return the assigns to each storage, by its name."""
    homes: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for node in graph.nodes:
        if node.op == "buf":
            homes[node.id] = str(node.arg)
            found[str(node.arg)] = []
        elif node.op in (*MOVEMENT, "assign") and node.of[0] in homes:
            homes[node.id] = homes[node.of[0]]
            if node.op == "assign":
                found[homes[node.id]].append(node.id)
    return found
