"""The meaning of a graph: its nodes, computed eagerly in program order on the bytes of its buffers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.cases.dtypes import NUMPY, Array, logical
from conformance.cases.graph import LEAVES, MOVEMENT, Graph, Node
from conformance.cases.index_map import Values, sizes
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor import Tensor, to_array
from conformance.reference.elementwise import apply, fold
from conformance.reference.graph_movement import Stored, moved, stored_in
from conformance.reference.schedule_memory import Memory, cast, operation_of

Meaning = Stored | NDArray[Any]
"""What a node is: a name of storage, or a value."""


@dataclass(frozen=True)
class Evaluation:
    """A graph being computed: what its nodes are so far, and all that was assigned to."""

    graph: Graph
    memory: Memory
    values: Values
    meanings: dict[str, Meaning] = field(default_factory=dict)
    assigned: list[Stored] = field(default_factory=list)


def evaluate_graph(graph: Graph, memory: Memory, values: Values) -> Evaluation:
    """Compute the nodes of the graph in order; assigns write into ``memory``."""
    found = Evaluation(graph, memory, values)
    for node in graph.nodes:
        found.meanings[node.id] = _meaning(node, [found.meanings[source] for source in node.of], found)
    return found


def worth(meaning: Meaning, memory: Memory) -> Array:
    """Return what a node is worth now."""
    if not isinstance(meaning, Stored):
        return meaning
    array = memory.array(meaning.buffer)
    out = np.zeros(meaning.at.shape, array.dtype)
    out[meaning.at >= 0] = array[meaning.at[meaning.at >= 0]]
    return out


def _meaning(node: Node, of: list[Meaning], within: Evaluation) -> Meaning:
    memory = within.memory
    if node.op in LEAVES:
        found = _leaf(node, within.values)
    elif node.op in MOVEMENT:
        first = of[0]
        if isinstance(first, Stored):
            found = Stored(first.buffer, moved(node, first.at, -1, within.values))
        else:
            found = moved(node, first, 0, within.values)
    elif node.op == "assign":
        target, value = of[0], worth(of[1], memory)
        assert isinstance(target, Stored)
        memory.array(target.buffer)[target.at] = value
        within.assigned.append(target)
        found = target
    elif node.op == "call":
        function = within.graph.functions[str(node.arg)]
        inner: dict[str, Meaning] = {}
        for each in function.nodes:
            sources = [inner[source] for source in each.of]
            inner[each.id] = of[int(str(each.arg))] if each.op == "param" else _meaning(each, sources, within)
        found = inner[function.result]
    else:
        found = _value(node, [worth(meaning, memory) for meaning in of])
    return found


def _leaf(node: Node, values: Values) -> Meaning:
    shape = sizes(node.shape, values)
    if node.op == "buf":
        return stored_in(str(node.arg), shape)
    if node.op == "const":
        assert isinstance(node.arg, Tensor)
        return np.broadcast_to(to_array(node.arg), shape)
    return np.asarray(values[str(node.arg)], NUMPY[node.dtype])


def _value(node: Node, of: list[Array]) -> Array:
    if node.op == "collective":
        return np.array(_received(node, of))
    found = of[0]
    if node.op == "alu":
        found = apply(str(node.arg), of)
    elif node.op == "cast":
        found = cast(of[0], node.dtype)
    elif node.op == "bitcast":
        found = np.ascontiguousarray(of[0]).view(NUMPY[node.dtype]).reshape(of[0].shape)
    elif node.op == "reduce":
        axes = node.arg if isinstance(node.arg, tuple) else ()
        found = fold(node.fold, of[0], [axis for axis in axes if isinstance(axis, int)])
    elif node.op == "all_reduce":
        found = fold(node.fold, np.stack(of), (0,))
    return np.array(found)


def _received(node: Node, of: list[Array]) -> Array:
    """Return what the node's device receives from a collective; raise ``ScheduleError`` where that is not its shape."""
    where, count = f"node {node.id!r} ({node.arg})", len(node.members)
    operation = operation_of(str(node.arg))
    if operation is None:
        raise ScheduleError("form.C10", f"{where}: there is no such operation")
    operands = [of[first : first + count] for first in range(0, len(of), count)]
    try:
        found = operation(*operands, **node.attrs, groups=(tuple(range(count)),))[node.members.index(node.device)]
    except (TypeError, ValueError) as error:
        raise ScheduleError("form.C10", f"{where}: {error}") from None
    if found is None or (found.shape, logical(found.dtype)) != (node.shape, node.dtype):
        kind = "nothing" if found is None else f"{logical(found.dtype)} {list(found.shape)}"
        raise ScheduleError("form.C10", f"{where}: {node.device} receives {kind}, not {node.dtype} {list(node.shape)}")
    return found
