"""The calls of a graph, and whether each gives its function what that asks for."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Node
from conformance.reference.schedule.facts import Facts


def calls(facts: Facts) -> list[tuple[Node, list[Node], list[Node]]]:
    """Return the calls, each with its arguments and the parameters of its function, in every scope."""
    graph = facts.schedule.graph
    if graph is None:
        return []
    found = []
    for nodes in (graph.nodes, *(function.nodes for function in graph.functions.values())):
        known = {node.id: node for node in nodes}
        for node in nodes:
            if node.op == "call":
                inner = graph.functions[str(node.arg)].nodes
                found.append((node, [known[each] for each in node.of], [each for each in inner if each.op == "param"]))
    return found


def met(arguments: Sequence[Node], parameters: Sequence[Node]) -> list[tuple[int, Node, Node]]:
    """Return each argument of a call with its number and a parameter that has it."""
    numbers = [(int(str(each.arg)), each) for each in parameters]
    return [(at, arguments[at], each) for at, each in numbers if at < len(arguments)]


def as_many_arguments(facts: Facts) -> str | None:
    """Find a call with more or fewer arguments than parameters."""
    for call, arguments, parameters in calls(facts):
        wanted = len({each.arg for each in parameters})
        if len(arguments) != wanted:
            return f"node {call.id!r}: function {call.arg!r} takes {wanted} arguments, got {len(arguments)}"
    return None


def numbered(facts: Facts) -> str | None:
    """Find a function whose parameters are not numbered from 0."""
    for name, function in facts.schedule.graph.functions.items() if facts.schedule.graph else ():
        found = sorted({int(str(node.arg)) for node in function.nodes if node.op == "param"})
        if found != list(range(len(found))):
            return f"function {name!r}: its parameters are numbered {found}"
    return None


def fitting_arguments(facts: Facts) -> str | None:
    """Find an argument of another shape, dtype or device than its parameter."""
    highest = {name: bounds.high for name, bounds in facts.schedule.variables.items()}
    for call, arguments, parameters in calls(facts):
        for at, given, each in met(arguments, parameters):
            for what, found, wanted in (
                ("shape", sizes(given.shape, highest), sizes(each.shape, highest)),
                ("dtype", given.dtype, each.dtype),
                ("device", given.device, each.device),
            ):
                if found != wanted:
                    return f"node {call.id!r}: argument {at} has the {what} {found}, its parameter {wanted}"
    return None


def calls_fit(facts: Facts) -> bool:
    """Return whether all calls give their functions what these ask for: else the graph has no meaning."""
    return not any(check(facts) for check in (as_many_arguments, numbered, fitting_arguments))
