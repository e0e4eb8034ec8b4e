"""What a well-formed node asks of sources that do not fit it: an implementation is asked to refuse it.

An assign of a value of another shape or dtype than its target, a call with arguments that its function does not take,
and an operation on values of several devices. The node itself is what it would be with sources that fit: only the
sources are others.
"""

from __future__ import annotations

from typing import Final

from conformance.cases.graph.extent import Values, sizes
from conformance.cases.graph.graph import Function, Graph, Node

MOVES: Final = "movement"
ASSIGNS: Final = "assign"
CALLS: Final = "call"
MEETS: Final = "devices"

KINDS: Final = (MOVES, ASSIGNS, CALLS, MEETS)
"""Why a graph has no meaning: movement that leaves its source, and the three misfits."""


def misfit_kind(node: Node) -> str:
    """Return which of ``KINDS`` a node without a meaning is."""
    return {"assign": ASSIGNS, "call": CALLS, "alu": MEETS}.get(node.op, MOVES)


def misfit_assign(node: Node, of: list[Node], most: Values) -> str:
    """Return why a value does not fit the target of an assign; nothing where it does.

    Raise ``ValueError`` where the node is not what its target is.
    """
    target, value = of
    if (node.dtype, sizes(node.shape, most)) != (target.dtype, sizes(target.shape, most)):
        raise ValueError(f"it is {node.dtype} {list(node.shape)}, and its target {target.dtype} {list(target.shape)}")
    if sizes(value.shape, most) != sizes(target.shape, most):
        return f"a value of the shape {list(value.shape)} is assigned to a target of {list(target.shape)}"
    if value.dtype != target.dtype:
        return f"a value of {value.dtype} is assigned to a target of {target.dtype}"
    return ""


def misfit_devices(of: list[Node]) -> str:
    """Return why an operation's operands do not meet on one device; nothing where they do."""
    where = sorted({source.device for source in of})
    return f"its operands are on {', '.join(where)}; they must be on one device" if len(where) > 1 else ""


def misfit_call(node: Node, of: list[Node], graph: Graph, most: Values) -> str:
    """Return why a function does not take the arguments of a call; nothing where it does."""
    name = str(node.arg)
    parameters = _parameters(graph.functions[name])
    if parameters.keys() != set(range(len(parameters))):
        return f"the parameters of {name!r} are {sorted(parameters)}, and should be numbered from 0 on"
    if len(of) != len(parameters):
        return f"{name!r} takes {len(parameters)} arguments; got {len(of)}"
    for number, given in enumerate(of):
        wanted = parameters[number]
        for what, found, right in (
            ("shape", list(sizes(given.shape, most)), list(sizes(wanted.shape, most))),
            ("dtype", given.dtype, wanted.dtype),
            ("device", given.device, wanted.device),
        ):
            if found != right:
                return f"argument {number} of {name!r} has the {what} {found}, and the parameter {right}"
    return ""


def _parameters(function: Function) -> dict[int, Node]:
    return {int(str(node.arg)): node for node in function.nodes if node.op == "param"}
