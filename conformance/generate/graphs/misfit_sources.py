"""Sources that do not fit: of an assign, of a call, and of an operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from conformance.cases.graph.graph import Function, Node
from conformance.cases.graph.misfits import ASSIGNS, CALLS, MEETS
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs.graph_draft import GraphDraft

SHAPES: Final = ((3, 2), (2, 4), (3, 3), (6,), (2, 3, 1), (1, 2, 3))
"""Shapes that are not (2, 3), and that no broadcast makes it."""

OTHER: Final = {"float32": ("int32", "float16", "bool"), "int32": ("float32", "int16", "bool")}
"""Dtypes that are not a buffer's, by its own."""


def _assigned(draw: Draw, asked: GraphDraft) -> Node:
    """Assign a value of another shape, or of another dtype, to a whole buffer or to a view of one."""
    target = asked.buffer((2, 3), draw(choices.sampled_from(tuple(OTHER))))
    value = asked.buffer((2, 3), target.dtype)
    view = target
    if draw(choices.booleans()):
        view = asked.add("flip", (2, 3), target.dtype, target, arg=(0,))
    if draw(choices.booleans()):
        value = asked.buffer(draw(choices.sampled_from(SHAPES)), target.dtype)
    else:
        dtype = draw(choices.sampled_from(OTHER[target.dtype]))
        value = asked.buffer((2, 3), dtype)
    return asked.add("assign", (2, 3), target.dtype, view, value)


def _called(draw: Draw, asked: GraphDraft) -> Node:
    """Call a function of two arguments with one, with three, or with one of another shape, dtype or number."""
    one, other = asked.buffer((2, 3), "float32"), asked.buffer((2, 3), "float32")
    kind = draw(choices.sampled_from(("fewer", "more", "shape", "dtype", "numbers")))
    second = 2 if kind == "numbers" else 1
    nodes = (
        Node(id="p0", op="param", shape=(2, 3), dtype="float32", device=one.device, arg=0),
        Node(id="p1", op="param", shape=(2, 3), dtype="float32", device=one.device, arg=second),
        Node(id="r", op="alu", of=("p0", "p1"), shape=(2, 3), dtype="float32", device=one.device, arg="add"),
    )
    asked.functions["f0"] = Function(nodes=nodes, result="r")
    given = {"fewer": [one], "more": [one, other, one]}.get(kind, [one, other])
    if kind == "shape":
        given[1] = asked.buffer(draw(choices.sampled_from(SHAPES)), "float32")
    if kind == "dtype":
        given[1] = asked.buffer((2, 3), draw(choices.sampled_from(OTHER["float32"])))
    return asked.add("call", (2, 3), "float32", *given, arg="f0")


def _met(draw: Draw, asked: GraphDraft) -> Node:
    """Combine two values of two devices, one of which may have been computed."""
    one = asked.buffer((2, 3), "float32", device="d0")
    other = asked.buffer((2, 3), "float32", device="d1")
    if draw(choices.booleans()):
        other = asked.add("alu", (2, 3), "float32", other, arg="neg", device="d1")
    pair = (one, other) if draw(choices.booleans()) else (other, one)
    return asked.add("alu", (2, 3), "float32", *pair, arg=draw(choices.sampled_from(("add", "mul"))), device="d0")


MISFITS: Final[dict[str, Callable[[Draw, GraphDraft], Node]]] = {ASSIGNS: _assigned, CALLS: _called, MEETS: _met}
"""What makes each kind of misfit."""


def misfit(draw: Draw, asked: GraphDraft) -> Node:
    """Add a node with a source that does not fit and return it."""
    return MISFITS[draw(choices.sampled_from(tuple(MISFITS)))](draw, asked)
