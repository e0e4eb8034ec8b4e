"""Features of graph cases: the words that claims are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, get_args

import numpy as np

from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.elementwise import ARITY, Fold
from conformance.cases.graph.extent import names_in, sizes
from conformance.cases.graph.graph import MOVEMENT, Computed, Leaf, Node
from conformance.cases.graph.misfits import misfit_call, misfit_devices
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import Tensor, to_array

KINDS: Final = ("bool", "integer", "float", "complex")

_FOLDED: Final = tuple(f"reduce_{fold}_{family}" for fold in get_args(Fold) for family in KINDS)

FEATURES: Final[dict[str, tuple[str, ...]]] = {
    "operation": (
        *MOVEMENT,
        *(op for op in get_args(Leaf) if op not in ("buf", "param")),
        *(op for op in get_args(Computed) if op not in ("alu", "reduce")),
        *ARITY,
        *_FOLDED,
    ),
    "dtype": tuple(NUMPY),
    "devices": ("1", "2", "more"),
    "rounds": ("one", "several"),
    "extents": ("numbers", "variables", "strided variables"),
    "nothing": ("none", *_FOLDED),
    "nan": ("none", "plain", "other"),
    "target": ("none", "whole", "view", "turned"),
    "index": ("none", "inside", "beyond"),
    "misfit": ("none", "assigned shape", "assigned dtype", "call", "devices"),
    "size": ("small", "long", "large"),
}
"""Every feature and its words.

``operation``: every node's, elementwise ones and folds by their own name, and folds with the kind of their dtype.
``nothing``: folds of axes without elements. ``nan``: constants that are NaN, the ``plain`` one that ``math.nan`` is in
their dtype, or of ``other`` sign or payload. ``target``: what assigns write: a whole buffer or a reshape of it, a
``view``, or one with a flip or a negative step in it (``turned``). ``extents``: whether some are variables, and
whether a stride takes such a tensor with a step that is not 1. ``index``: whether every index of a gather is an
element's, as far as the reference knows. ``misfit``: a source that does not fit: of an assign by its shape or its
dtype, of a call, or of an operation by its device. ``long`` cases have more than ``LONG`` nodes, ``large`` ones more
than ``LARGE``.
"""

LONG: Final = 100
"""Nodes that an ahead-of-time compiler of C++ takes some ten seconds for (Inductor, two loaded cores)."""

LARGE: Final = 1000

Words = frozenset[str]


def graph_features(case: GraphCase) -> dict[str, Words]:
    """Return the words of each feature that a well-formed case has, but for ``index``: that depends on values."""
    inner = tuple(node for function in case.graph.functions.values() for node in function.nodes)
    every = (*case.graph.nodes, *inner)
    devices = len({node.device for node in every})
    return {
        "operation": frozenset(_operation(node) for node in every if node.op not in ("buf", "param")),
        "dtype": frozenset({node.dtype for node in every} | {node.acc for node in every if node.acc}),
        "devices": frozenset({str(devices) if devices < 3 else "more"}),
        "rounds": frozenset({"one" if len(case.rounds) == 1 else "several"}),
        "extents": frozenset(_extents(case)),
        "nothing": frozenset(_of_nothing(case)) or frozenset({"none"}),
        "nan": frozenset(_nans(every)) or frozenset({"none"}),
        "target": frozenset(_targets(case)) or frozenset({"none"}),
        "misfit": frozenset(_misfits(case)) or frozenset({"none"}),
        "size": frozenset({_size(len(every))}),
    }


def _extents(case: GraphCase) -> set[str]:
    """Return the words of extents; variables of one value are numbers where a stride takes them."""
    graph = case.graph
    if not graph.variables:
        return {"numbers"}
    every = (*graph.nodes, *(node for function in graph.functions.values() for node in function.nodes))
    ranges = {name: each.low != each.high for name, each in graph.variables.items()}
    strided = any(
        node.op == "stride"
        and any(step != 1 for step in _steps(node))
        and any(ranges[name] for extent in node.shape for name in names_in(extent))
        for node in every
    )
    return {"variables", "strided variables"} if strided else {"variables"}


def _misfits(case: GraphCase) -> set[str]:
    graph, most = case.graph, case.graph.most
    nodes = {node.id: node for node in graph.nodes}
    found: set[str] = set()
    for node in graph.nodes:
        of = [nodes[name] for name in node.of]
        if node.op == "assign":
            shapes, dtypes = ({sizes(each.shape, most) for each in of}, {each.dtype for each in of})
            found |= {"assigned shape"} if len(shapes) > 1 else {"assigned dtype"} if len(dtypes) > 1 else set()
        elif node.op == "call" and misfit_call(node, of, graph, most):
            found.add("call")
        elif node.op == "alu" and misfit_devices(of):
            found.add("devices")
    return found


def _size(nodes: int) -> str:
    return "large" if nodes > LARGE else "long" if nodes > LONG else "small"


def _operation(node: Node) -> str:
    if node.op == "alu":
        return str(node.arg)
    return f"reduce_{node.fold}_{kind(node.dtype)}" if node.op == "reduce" else node.op


def _of_nothing(case: GraphCase) -> set[str]:
    found: set[str] = set()
    nodes = {node.id: node for node in case.graph.nodes}
    for number in range(len(case.rounds)):
        bound = case.bound(number)
        for node in case.listed(number):
            source = sizes(nodes[node.of[0]].shape, bound) if node.op == "reduce" else ()
            axes = node.arg if node.op == "reduce" and isinstance(node.arg, tuple) else ()
            if any(isinstance(axis, int) and axis < len(source) and source[axis] == 0 for axis in axes):
                found.add(_operation(node))
    return found


def _nans(nodes: Iterable[Node]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        if isinstance(node.arg, Tensor) and kind(node.dtype) in ("float", "complex"):
            value = to_array(node.arg)
            plain = value.tobytes() == np.array(math.nan, value.dtype).tobytes()
            found |= {"plain" if plain else "other"} if np.isnan(value).any() else set()
    return found


def _targets(case: GraphCase) -> set[str]:
    nodes = {node.id: node for node in case.graph.nodes}
    found: set[str] = set()
    for node in (each for each in case.graph.nodes if each.op == "assign"):
        at, word = nodes[node.of[0]], "whole"
        while at.op != "buf":
            turned = at.op == "flip" or (at.op == "stride" and any(int(str(step)) < 0 for step in _steps(at)))
            word = "turned" if turned or word == "turned" else "whole" if at.op in _SAME and word == "whole" else "view"
            at = nodes[at.of[0]]
        found.add(word)
    return found


_SAME: Final = ("reshape", "detach", "assign")


def _steps(node: Node) -> tuple[object, ...]:
    return node.arg if isinstance(node.arg, tuple) else ()
