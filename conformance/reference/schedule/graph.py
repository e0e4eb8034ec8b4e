"""The meaning of a graph: its nodes, computed eagerly in program order on the bytes of its buffers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.extent import Values, sizes
from conformance.cases.graph.graph import LEAVES, MOVEMENT, Graph, Node
from conformance.cases.tensor.dtypes import Array, logical
from conformance.reference.graph.conversion import cast
from conformance.reference.graph.movement import Stored, moved, stored_in
from conformance.reference.graph.nodes import computed, everywhere, leaf, received
from conformance.reference.graph.rounding import Mask, Span, rounded, summed
from conformance.reference.schedule.memory import Memory

Meaning = Stored | NDArray[Any]
"""What a node is: a name of storage, or a value."""


@dataclass(frozen=True)
class Evaluation:
    """A graph being computed: what its nodes are so far, all that was assigned to, and where other values are right.

    ``masks`` and ``spans`` have the nodes that are no names of storage (``schedule_rounding``); ``rounded`` has, in
    storages that such was assigned to, the bits of the element for every byte of it. ``others`` are the further results
    of calls. ``latest`` has what all members of the latest collective received, by what they gave.
    """

    graph: Graph
    memory: Memory
    values: Values
    meanings: dict[str, Meaning] = field(default_factory=dict)
    assigned: list[Stored] = field(default_factory=list)
    masks: dict[str, Mask | None] = field(default_factory=dict)
    spans: dict[str, Span | None] = field(default_factory=dict)
    rounded: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    others: dict[str, list[tuple[Meaning, Mask | None, Span | None]]] = field(default_factory=dict)
    latest: dict[object, list[Array | None]] = field(default_factory=dict)

    def mask(self, name: str) -> Mask | None:
        """Return what is known of the elements of a node, as it is worth now."""
        meaning = self.meanings[name]
        return self.mask_of(meaning) if isinstance(meaning, Stored) else self.masks[name]

    def mask_of(self, stored: Stored) -> Mask | None:
        """Return the same of what is stored."""
        if self.memory.facts.root(stored.buffer)[0] not in self.rounded:
            return None
        kept = replace(self.memory, storages=self.rounded).array(stored.buffer)
        found = kept.view(np.uint8).reshape(-1, kept.itemsize)[:, 0]
        return np.where(stored.at >= 0, found[stored.at], np.uint8(0))

    def received(self, node: Node, of: list[Array]) -> Array:
        """Return what the node's device receives: the operation is done once for the nodes of all members."""
        given = tuple((each.dtype, each.shape, each.tobytes()) for each in of)
        key = (node.arg, msgspec.json.encode(node.attrs), node.members, given)
        if key not in self.latest:
            self.latest.clear()
            self.latest[key] = everywhere(node, of)
        return np.array(received(node, self.latest[key]))

    def assign(self, target: Stored, value: Array, mask: Mask | None) -> None:
        """Write a value into storage, and what is known of it."""
        self.memory.array(target.buffer)[target.at] = value
        self.assigned.append(target)
        root, _ = self.memory.facts.root(target.buffer)
        if mask is not None:
            self.rounded.setdefault(root, np.zeros_like(self.memory.storages[root]))
        if root in self.rounded:
            kept = replace(self.memory, storages=self.rounded).array(target.buffer)
            shown = np.zeros(target.at.shape, np.uint8) if mask is None else mask
            kept.view(np.uint8).reshape(-1, kept.itemsize)[target.at] = shown[..., np.newaxis]


def evaluate_graph(graph: Graph, memory: Memory, values: Values) -> Evaluation:
    """Compute the nodes of the graph in order; assigns write into ``memory``."""
    found = Evaluation(graph, memory, values)
    for node in graph.nodes:
        _take(node, found)
    return found


def worth(meaning: Meaning, memory: Memory) -> Array:
    """Return what a node is worth now."""
    if not isinstance(meaning, Stored):
        return meaning
    array, there = memory.array(meaning.buffer), meaning.at >= 0
    if there.all():
        return np.asarray(array[meaning.at])
    out = np.zeros(meaning.at.shape, array.dtype)
    out[there] = array[meaning.at[there]]
    return out


def _take(node: Node, within: Evaluation) -> None:
    of, memory = [within.meanings[source] for source in node.of], within.memory
    masks = [within.mask(source) for source in node.of]
    found: Meaning
    mask: Mask | None = None
    span: Span | None = None
    if node.op in LEAVES:
        found = (
            stored_in(str(node.arg), sizes(node.shape, within.values))
            if node.op == "buf"
            else leaf(node, within.values)
        )
    elif node.op in MOVEMENT:
        first = of[0]
        if isinstance(first, Stored):
            found = Stored(first.buffer, moved(node, first.at, -1, within.values))
        else:
            found = moved(node, first, 0, within.values)
            mask = None if masks[0] is None else moved(node, masks[0], 0, within.values)
            terms = within.spans.get(node.of[0])
            if terms is not None:
                # What a pad adds is a multiple of everything.
                span = moved(node, terms[0], np.inf, within.values), moved(node, terms[1], 0, within.values)
    elif node.op == "assign":
        target, value = of[0], worth(of[1], memory)
        assert isinstance(target, Stored)
        within.assign(target, value, masks[1])
        found = target
    elif node.op == "item":
        found, mask, span = within.others[node.of[0]][int(str(node.arg)) - 1]
    elif node.op == "call":
        function = within.graph.functions[str(node.arg)]
        inner = replace(within, meanings={}, masks={}, spans={}, others={})
        for each in function.nodes:
            if each.op == "param":
                at = int(str(each.arg))
                inner.meanings[each.id], inner.masks[each.id] = of[at], masks[at]
                inner.spans[each.id] = within.spans.get(node.of[at])
            else:
                _take(each, inner)
        found, mask = inner.meanings[function.result], inner.mask(function.result)
        span = inner.spans.get(function.result)
        within.others[node.id] = [(inner.meanings[n], inner.mask(n), inner.spans.get(n)) for n in function.more]
    else:
        taken = [worth(meaning, memory) for meaning in of]
        found = within.received(node, taken) if node.op == "collective" else computed(node, taken)
        spans = [within.spans.get(source) for source in node.of]
        span = summed(node, taken, spans)
        mask = (
            _of_wide_fold(node, taken[0], masks[0], found)
            if node.op == "reduce" and node.acc
            else rounded(node, taken, masks, found, span if any(each is not None for each in spans) else None)
        )
    within.meanings[node.id], within.masks[node.id], within.spans[node.id] = found, mask, span


def _of_wide_fold(node: Node, of: Array, mask: Mask | None, made: Array) -> Mask | None:
    """Return what is known of a reduce that accumulates in another dtype, and is converted once at the end."""
    wide = msgspec.structs.replace(node, dtype=node.acc, acc="")
    terms, total = of, computed(wide, [cast(of, node.acc)])
    if logical(of.dtype) != node.acc:
        terms = cast(of, node.acc)
        mask = rounded(msgspec.structs.replace(wide, op="cast", arg=None), [of], [mask], terms)
    mask = rounded(wide, [terms], [mask], total)
    if node.acc == node.dtype:
        return mask
    return rounded(msgspec.structs.replace(node, op="cast", arg=None, acc=""), [total], [mask], made)
