"""What sources say of graphs where a clause says something else, and how values show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from msgspec.structs import replace as changed

from conformance.cases.case_error import CaseError
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import NUMPY, kind, logical
from conformance.cases.tensor.tensor import Tensor, from_array, to_array
from conformance.judging.graphs.clause import GraphDivergence, GraphSeen, seen
from conformance.judging.graphs.subject import GraphSubject, graph_meaning
from conformance.judging.graphs.values import beyond, off
from conformance.reference.graph.evaluate import BoundedValue
from conformance.reference.graph.nodes import axes_of
from conformance.reference.graph.rounding import LOOSE

NARROW: Final = "bfloat16"
"""The dtype of 16 bits that XLA computes in a wider one on the processor."""


def means(source: str, text: str, otherwise: Callable[[GraphCase], GraphCase | None]) -> GraphDivergence:
    """Return the divergence of a source by which a case means what it would mean ``otherwise``; ``None`` for no other.

    Every value that is wrong by what the case means is right by that meaning.
    """

    def shown(subject: GraphSubject, found: GraphSeen) -> bool:
        other = otherwise(subject.case)
        if other is None:
            return False
        try:
            meant = graph_meaning(other)
        except CaseError:
            return False
        return meant.legal and not found.wrongs.keys & seen(meant, found.observation, found.numbers).wrongs.keys

    return GraphDivergence(source, text, shown, otherwise)


def any_nan(source: str, text: str) -> GraphDivergence:
    """Return the divergence of a source by which a NaN of a narrow float that is moved is any NaN.

    Of bfloat16 and of floats of 8 bits; every other element is demanded as everywhere.
    """

    def shown(subject: GraphSubject, found: GraphSeen) -> bool:
        return all(_alike_but_nans(subject.expected[key], found.given(key), found) for key in found.wrongs.keys)

    return GraphDivergence(source, text, shown)


def _alike_but_nans(worth: BoundedValue, given: Tensor | None, found: GraphSeen) -> bool:
    dtype = logical(worth.array.dtype)
    if given is None or (given.dtype, given.shape) != (dtype, worth.array.shape) or kind(dtype) != "float":
        return False
    if dtype != NARROW and worth.array.itemsize > 1:
        return False
    free = np.where(np.isnan(worth.array.astype(np.float32)), np.uint16(LOOSE), np.uint16(0))
    freed = replace(worth, slack=replace(worth.slack, mask=worth.slack.mask | free))
    return off(freed, given, found.numbers) is None and beyond(freed, given, found.numbers) is None


def folded(case: GraphCase) -> GraphCase | None:
    """Return the case with ``x - x`` and ``x * 0`` as 0, ``x / x`` as 1, ``(x - y) + y`` as x; ``None`` for no other.

    ``x + -x`` is ``x - x``, and ``x`` times its reciprocal ``x / x``. Two nodes are one ``x`` where they are one node,
    or are made alike of constants and of storage that nothing writes. What calls make is folded too.
    """
    nodes = {node.id: node for node in case.graph.nodes}
    written = any(node.op == "assign" for node in nodes.values()) or any(each.writes for each in case.rounds)
    made = _all_folded(case.graph.nodes, {id: id for id in nodes} if written else _alike(case))
    functions = {
        name: changed(each, nodes=_all_folded(each.nodes, {node.id: node.id for node in each.nodes}))
        for name, each in case.graph.functions.items()
    }
    if (made, functions) == (case.graph.nodes, case.graph.functions):
        return None
    return changed(case, graph=changed(case.graph, nodes=made, functions=functions))


def _all_folded(nodes: Sequence[Node], names: Mapping[str, str]) -> tuple[Node, ...]:
    by_name = {node.id: node for node in nodes}
    return tuple(_folded(node, by_name, names) for node in nodes)


def _alike(case: GraphCase) -> dict[str, str]:
    """Return for each node the first one that is made as it is."""
    first: dict[tuple[object, ...], str] = {}
    names: dict[str, str] = {}
    for node in case.graph.nodes:
        key = (*(getattr(node, part) for part in ("op", "shape", "dtype", "device", "fold", "acc")), repr(node.arg))
        of = tuple(names[each] for each in node.of)
        alone = node.op in ("call", "item", "collective", "all_reduce", "var")
        names[node.id] = node.id if alone else first.setdefault((*key, of), node.id)
    return names


def _folded(node: Node, nodes: Mapping[str, Node], names: Mapping[str, str]) -> Node:
    """Return a node as tinygrad's rules of rewriting have it, where one of them is about it."""
    if node.op != "alu" or kind(node.dtype) != "float" or len(node.of) != 2:
        return node
    left, right = (nodes[each] for each in node.of)
    if any(each.shape != node.shape or each.dtype != node.dtype for each in (left, right)):
        return node
    if node.arg in ("add", "sub"):
        return _summed(node, nodes, names)
    inverse = any(_inverts(one, other, names) for one, other in ((left, right), (right, left)))
    if (node.arg, True) in {("div", names[left.id] == names[right.id]), ("mul", inverse)}:
        return _constant(node, 1.0)
    return _constant(node, 0.0) if node.arg == "mul" and (_zero(left, nodes) or _zero(right, nodes)) else node


def _summed(node: Node, nodes: Mapping[str, Node], names: Mapping[str, str]) -> Node:
    """Return a sum or a difference without what cancels out, where one term is left or none."""
    terms = _terms(node, nodes, names)
    kept = _uncancelled(terms)
    if len(kept) == len(terms) or len(kept) > 1:
        return node
    if not kept:
        return _constant(node, 0.0)
    name, positive = kept[0]
    return changed(node, op="contig" if positive else "alu", of=(name,), arg=None if positive else "neg")


def _inverts(node: Node, other: Node, names: Mapping[str, str]) -> bool:
    return node.op == "alu" and node.arg == "recip" and names[node.of[0]] == names[other.id]


def _terms(node: Node, nodes: Mapping[str, Node], names: Mapping[str, str]) -> list[tuple[str, bool]]:
    """Return the terms of a sum whose own sums and negations are written out once, and which of them are positive."""
    found: list[tuple[str, bool]] = []
    for at, name in enumerate(node.of):
        positive, of = not (at and node.arg == "sub"), nodes[name]
        if of.op == "alu" and of.arg == "neg":
            found.append((names[of.of[0]], not positive))
        elif of.op == "alu" and of.arg in ("add", "sub") and {nodes[each].shape for each in of.of} == {node.shape}:
            found += [(names[of.of[0]], positive), (names[of.of[1]], positive == (of.arg == "add"))]
        else:
            found.append((names[name], positive))
    return found


def _uncancelled(terms: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Return the terms without pairs of one and its opposite."""
    kept: list[tuple[str, bool]] = []
    for name, positive in terms:
        if (name, not positive) in kept:
            kept.remove((name, not positive))
        else:
            kept.append((name, positive))
    return kept


def _constant(node: Node, number: float) -> Node:
    return changed(node, op="const", of=(), arg=from_array(np.asarray(number, NUMPY[node.dtype])))


def _zero(node: Node, nodes: Mapping[str, Node]) -> bool:
    """Return whether a node is a constant zero, or numbers counted along an axis of one element, in whatever shape."""
    while node.op in ("reshape", "expand", "permute", "flip", "cast", "copy"):
        node = nodes[node.of[0]]
    if node.op == "iota":
        return node.shape[int(str(node.arg))] == 1
    return node.op == "const" and isinstance(node.arg, Tensor) and not to_array(node.arg).any()


def viewed(case: GraphCase) -> GraphCase | None:
    """Return the case with reductions over axes of one element as reshapes, names of storage where the source is one.

    Those that fold in another dtype than their own are left, as are all where extents are variables; ``None`` where
    nothing changes.
    """
    nodes = {node.id: node for node in case.graph.nodes}
    made = tuple(_viewed(node, nodes) for node in case.graph.nodes)
    if made == case.graph.nodes:
        return None
    return changed(case, graph=changed(case.graph, nodes=made))


def _viewed(node: Node, nodes: Mapping[str, Node]) -> Node:
    if node.op != "reduce":
        return node
    source = nodes[node.of[0]]
    if any(source.shape[axis] != 1 for axis in axes_of(node)) or {source.dtype, node.acc or node.dtype} != {node.dtype}:
        return node
    return changed(node, op="reshape", arg=None, fold="", acc="")


FOLDED: Final = means(
    "tinygrad",
    'Rewriting folds x - x, x * 0, x / x and (x - y) + y whatever they hold: "can be wrong if x or x2 is 0", "this can '
    'be wrong for loaded NaN" (symbolic.py).',
    folded,
)
VIEWED: Final = means(
    "tinygrad",
    "A reduction over axes of one element is a reshape, which shows what its source holds: \"we don't allow reduce on "
    '1s axis" (UOp._rop).',
    viewed,
)
NORMALIZED: Final = any_nan(
    "jax",
    'XLA on the processor moves some narrow floats by way of a wider one: "adds F32 <-> BF16 conversions for HLO '
    'instructions that do not support BF16 input/output". A NaN stays a NaN; its sign and its payload are not kept.',
)
