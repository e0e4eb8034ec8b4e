"""The abstract graph that a schedule is for: what was asked, node by node in program order.

A node's meaning is eager: it is computed where it is listed, from what its sources are worth there. ``buf``, ``assign``
and movement of them are names of storage, and are worth what the storage holds when they are used.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

import msgspec

from conformance.cases.attribute import Attr
from conformance.cases.graph.extent import Dim, names_in
from conformance.cases.tensor.tensor import Tensor

Movement = Literal["reshape", "permute", "expand", "pad", "shrink", "stride", "flip", "detach"]
Leaf = Literal["buf", "const", "var", "param", "iota"]
Computed = Literal[
    "alu",
    "cast",
    "bitcast",
    "reduce",
    "gather",
    "contig",
    "copy",
    "assign",
    "all_reduce",
    "collective",
    "call",
    "item",
]
Arg = Tensor | str | int | bool | tuple[int | tuple[Dim, Dim], ...] | None

MOVEMENT: Final = get_args(Movement)
LEAVES: Final = get_args(Leaf)


class Node(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One value on one device.

    ``arg`` is, for ``buf`` the buffer, ``const`` a tensor without axes, ``var`` the variable, ``param`` the number of
    the parameter, ``permute`` the axes, ``pad`` what is added before and after each axis, ``shrink`` the half-open
    range kept of each axis, ``stride`` for each axis how far apart the elements lie that are kept, the first among
    them, or the last where the step is negative, ``flip`` and ``reduce`` axes (the operation of a reduce is ``fold``,
    and the axes are gone from its shape), ``alu`` the operation, ``copy`` whether it may not be elided, ``call`` the
    function, and ``item`` which other result of the call, its source, it is: 1 for the second. ``iota`` counts along
    the axis ``arg`` from 0. ``gather`` has along the axis ``arg`` of its first source the elements that the second one,
    of integers, numbers, and the axes of the second one stand in the place of that axis.
    ``acc`` is the dtype in which a reduce folds, where that is not its own.
    ``assign`` writes its second source into its first. ``all_reduce`` is the ``fold`` of its sources, one for each
    device, on this node's device. ``collective`` is what ``device``, one of the ``members``, receives when they meet in
    the operation ``arg`` with ``attrs``, as a step of a program has them: its sources are a block of each member, in
    member order, for one operand after the other.
    """

    id: str
    op: Movement | Leaf | Computed
    of: tuple[str, ...] = ()
    shape: tuple[Dim, ...]
    dtype: str
    device: str
    arg: Arg = None
    fold: str = ""
    acc: str = ""
    attrs: dict[str, Attr] = {}
    members: tuple[str, ...] = ()


class Function(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The body of a call: nodes in order, of which the ``param`` ones stand for the arguments, and the one it gives.

    ``more`` are its other results, which the ``item`` nodes of a call are.
    """

    nodes: tuple[Node, ...]
    result: str
    more: tuple[str, ...] = ()

    @property
    def results(self) -> tuple[str, ...]:
        """Return all that it gives."""
        return self.result, *self.more


class Variable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a variable may be, at least ``low`` and at most ``high``, and the ``value`` that was asked for."""

    low: int
    high: int
    value: int


class Graph(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Nodes in program order, those whose values were asked for, and with which values of variables."""

    nodes: tuple[Node, ...]
    results: tuple[str, ...]
    functions: dict[str, Function] = {}
    variables: dict[str, Variable] = {}

    @property
    def most(self) -> dict[str, int]:
        """Return the greatest value of each variable that the graph binds."""
        return {name: variable.high for name, variable in self.variables.items()}


def variables_of(node: Node) -> set[str]:
    """Return the variables that a node speaks of."""
    pairs = [end for pair in node.arg if isinstance(pair, tuple) for end in pair] if isinstance(node.arg, tuple) else []
    found = {name for dim in (*node.shape, *pairs) if isinstance(dim, str) for name in names_in(dim)}
    return found | {str(node.arg)} if node.op == "var" else found


def pruned(graph: Graph) -> Graph:
    """Return the graph without nodes that neither a result nor an assign is made of, and variables of such alone."""
    needed = {*graph.results, *(node.id for node in graph.nodes if node.op == "assign")}
    for node in reversed(graph.nodes):
        if node.id in needed:
            needed.update(node.of)
    nodes = tuple(node for node in graph.nodes if node.id in needed)
    called = {str(node.arg) for node in nodes if node.op == "call"}
    functions = {name: function for name, function in graph.functions.items() if name in called}
    inner = [node for function in functions.values() for node in function.nodes]
    spoken = {name for node in (*nodes, *inner) for name in variables_of(node)}
    return Graph(
        nodes=nodes,
        results=graph.results,
        functions=functions,
        variables={name: variable for name, variable in graph.variables.items() if name in spoken},
    )
