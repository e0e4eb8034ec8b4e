"""Which nodes of the graph the items of a schedule compute, as far as it can be told."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec
import numpy as np

from conformance.backends.tinygrad.lazy_graphs import assigned_to, overwritten
from conformance.cases.graph.extent import Values, sizes
from conformance.cases.graph.graph import MOVEMENT, Graph, Node
from conformance.cases.schedule.schedule import Copy, Kernel, Place


def with_provenance(items: list[Kernel | Copy], graph: Graph, places: tuple[Place, ...]) -> Iterator[Kernel | Copy]:
    """Yield the items with the nodes that they are known to compute: results where they are stored, and assigns.

    tinygrad does not say which. The last write of a result's own buffer finishes the result, and the writes of a buffer
    that was there before are its assigns in order, but for those of storage to itself, when there are as many; a single
    write is the last of them. Where it cannot be told, a write has no label, and is judged by what it leaves behind.
    """
    nodes = {node.id: node for node in graph.nodes}
    writes: dict[str, list[str]] = {}
    for item in items:
        for access in item.accesses:
            if access.write:
                writes.setdefault(access.buffer, []).append(item.id)
    computed: dict[str, list[str]] = {}
    labels: dict[str, str] = {}
    storage = {str(node.arg) for node in graph.nodes if node.op == "buf"}
    for place in places:
        if place.buffer in writes and place.buffer not in storage:
            item_id = writes[place.buffer][-1]
            name = _moved_from(place.node, graph, anywhere=place.map is not None)
            computed.setdefault(item_id, []).append(name)
            if place.map is None:
                labels[item_id] = name
    for buffer in storage & set(writes):
        assigns = [
            node.id
            for node in graph.nodes
            if node.op == "assign" and not _itself(node, nodes) and assigned_to(node.id, nodes) == buffer
        ]
        doing = writes[buffer]
        if len(doing) not in (1, len(assigns)):
            continue
        for name, item_id in zip(assigns[-len(doing) :], doing, strict=False):
            computed.setdefault(item_id, []).append(name)
            labels[item_id] = name
    for item in items:
        labelled = tuple(
            msgspec.structs.replace(access, node=labels.get(item.id) if access.write else None)
            for access in item.accesses
        )
        done = tuple(dict.fromkeys(computed.get(item.id, ())))
        yield msgspec.structs.replace(item, provenance=done, accesses=labelled)


def _moved_from(name: str, graph: Graph, *, anywhere: bool) -> str:
    """Return the node whose elements a node has too, in the same row-major order, or ``anywhere`` where a map says."""
    nodes = {node.id: node for node in graph.nodes}
    node = nodes[name]
    while (node.op in MOVEMENT and (anywhere or _in_order(node, nodes[node.of[0]], graph.most))) or _nowhere(
        node, nodes
    ):
        node = nodes[node.of[0]]
    return node.id


def _nowhere(node: Node, nodes: Mapping[str, Node]) -> bool:
    """Return whether a node is a copy to the device that its source is on, or a contig of one: the same tensor.

    Of storage that is assigned to later a copy is none.
    """
    same = node.op == "copy" and not node.arg and nodes[node.of[0]].device == node.device
    twice = node.op == "contig" and nodes[node.of[0]].op == "contig"
    return twice or (same and not overwritten(node.of[0], nodes, node.id))


def _in_order(node: Node, source: Node, most: Values) -> bool:
    """Return whether a movement leaves all elements of its source where they are in row-major order."""
    shape, arg = sizes(source.shape, most), cast("tuple[Any, ...]", node.arg)
    before = np.arange(math.prod(shape)).reshape(shape)
    after = before
    if node.op == "permute":
        after = before.transpose(arg)
    elif node.op == "flip":
        after = np.flip(before, arg)
    same = (after.reshape(-1) == before.reshape(-1)).all()
    return math.prod(sizes(node.shape, most)) == before.size and bool(same)


def _itself(node: Node, nodes: Mapping[str, Node]) -> bool:
    """Return whether an assign writes what its target holds, also by copies to where it is."""
    target, value = (nodes[name] for name in node.of)
    while value.op == "copy" and not value.arg and nodes[value.of[0]].device == value.device:
        if overwritten(value.of[0], nodes, value.id, node.id):
            break
        value = nodes[value.of[0]]
    while "assign" in (target.op, value.op):
        target, value = (nodes[each.of[0]] if each.op == "assign" else each for each in (target, value))
    return target.id == value.id
