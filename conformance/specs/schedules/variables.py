"""Variables and calls: what an item is told, and what a function is called with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Final

from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.extent import greatest, names_in
from conformance.cases.schedule.index_map import names
from conformance.cases.schedule.kernel_body import Symbol
from conformance.cases.schedule.schedule import Collective, Kernel
from conformance.cases.tensor.dtypes import NUMPY
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import PairClause, ScheduleClause
from conformance.judging.schedules.facts.calls import as_many_arguments, calls, fitting_arguments, met, numbered
from conformance.judging.schedules.facts.keys import keys_in_order
from conformance.judging.schedules.facts.labels import labels_of
from conformance.judging.schedules.facts.subjects import some_buffer, some_kernel
from conformance.reference.schedule.facts import Facts


def _used(leaf: Kernel) -> set[str]:
    found = {name for access in leaf.accesses for name in names(access.map or ())}
    for body in leaf.bodies:
        found |= {name for extent in body.extents for name in names_in(extent)}
        found |= {each.name for each in body.instructions if isinstance(each, Symbol)}
    return found


def only_what_is_used(facts: Facts) -> str | None:
    """Find a variable that an item lists and does not use."""
    for number, leaf in enumerate(facts.leaves):
        if isinstance(leaf, Kernel) and leaf.bodies:
            for binding in leaf.variables:
                if binding.name not in _used(leaf):
                    return f"{facts.name(number)} lists the variable {binding.name!r} and does not use it"
    return None


def sorted_by_name(facts: Facts) -> str | None:
    """Find an item whose variables are not in order, each once."""
    for number, leaf in enumerate(facts.leaves):
        listed = [binding.name for binding in leaf.variables] if isinstance(leaf, Kernel) else []
        if listed != sorted(set(listed)):
            return f"{facts.name(number)} lists its variables as {', '.join(listed)}"
    return None


def one_value(facts: Facts) -> str | None:
    """Find a variable with two values, of which the graph may have asked for one."""
    seen: dict[str, tuple[str, int]] = {}
    if facts.schedule.graph is not None:
        seen |= {name: ("the graph", each.value) for name, each in facts.schedule.graph.variables.items()}
    for number, leaf in enumerate(facts.leaves):
        for binding in leaf.variables if isinstance(leaf, Kernel) else ():
            first, value = seen.setdefault(binding.name, (facts.name(number), binding.value))
            if value != binding.value:
                return f"{facts.name(number)} binds {binding.name!r} to {binding.value}, {first} to {value}"
    return None


def within_bounds(facts: Facts) -> str | None:
    """Find a value that the variable may not have."""
    for number, leaf in enumerate(facts.leaves):
        for binding in leaf.variables if isinstance(leaf, Kernel) else ():
            bounds = facts.schedule.variables[binding.name]
            if not bounds.low <= binding.value <= bounds.high:
                return (
                    f"{facts.name(number)} binds {binding.name!r} to {binding.value}, which is not in "
                    f"{bounds.low} to {bounds.high}"
                )
    return None


def room_for_the_most(facts: Facts) -> str | None:
    """Find a buffer of symbolic shape that is smaller than its greatest extents need."""
    low = {name: bounds.low for name, bounds in facts.schedule.variables.items()}
    high = {name: bounds.high for name, bounds in facts.schedule.variables.items()}
    for buffer in facts.schedule.buffers:
        if buffer.shape is not None and _symbolic(buffer):
            wanted = math.prod(greatest(dim, low, high) for dim in buffer.shape) * NUMPY[buffer.dtype].itemsize
            if buffer.size < wanted:
                return f"buffer {buffer.id!r} of shape {list(buffer.shape)} has {buffer.size} bytes, and needs {wanted}"
    return None


_CUTTING: Final = ("ring", "all_to_all", "direct")
"""Algorithms that cut a block into chunks."""


def _symbolic_value(facts: Facts, name: str) -> bool:
    return any(isinstance(extent, str) for extent in facts.nodes[name].shape)


def _sized(facts: Facts) -> Iterator[tuple[Collective, str]]:
    """Yield the collectives of known algorithm, each with the values of symbolic shape that it says it makes."""
    for item in facts.schedule.items:
        if isinstance(item, Collective) and item.algorithm:
            yield from ((item, name) for name in sorted(set(labels_of(item))) if _symbolic_value(facts, name))


def symbolic_is_naive(facts: Facts) -> str | None:
    """Find a collective that splits a shape it does not know."""
    for item, name in _sized(facts):
        if item.algorithm in _CUTTING:
            return f"item {item.id!r} splits {name!r}, whose shape is symbolic, for a {item.algorithm}"
    cutting = [each for each in facts.schedule.items if isinstance(each, Collective) and each.algorithm in _CUTTING]
    left = any(_symbolic_value(facts, name) for name in facts.nodes.keys() - facts.writers.keys())
    return SILENT if left and any(not labels_of(each) for each in cutting) else None


def _binds(facts: Facts) -> bool:
    return some_kernel(lambda each: bool(each.variables))(facts)


def _bound_twice(facts: Facts) -> bool:
    """Speak of variables that several kernels list, or one of a graph that gives it a value."""
    told = Counter([*facts.schedule.graph.variables] if facts.schedule.graph is not None else [])
    for leaf in facts.leaves:
        told.update(binding.name for binding in (leaf.variables if isinstance(leaf, Kernel) else ()))
    return any(count > 1 for count in told.values())


def _symbolic(buffer: Buffer) -> bool:
    return any(isinstance(extent, str) for extent in buffer.shape or ())


def _parametric(facts: Facts) -> bool:
    graph = facts.schedule.graph
    functions = graph.functions.values() if graph else ()
    return any(node.op == "param" for function in functions for node in function.nodes)


VARIABLES = (
    ScheduleClause(
        "variables.C1",
        "A kernel with bodies lists no variable that neither its bodies nor the maps of its accesses use.",
        "tinygrad.lazy: vars_from_ast",
        only_what_is_used,
        some_kernel(lambda each: bool(each.bodies and each.variables)),
        requirement="may",
    ),
    ScheduleClause(
        "variables.C2",
        "A kernel lists its variables in the order of their names by code point, each once.",
        "tinygrad.lazy: vars_from_ast",
        sorted_by_name,
        _binds,
        "may",
    ),
    ScheduleClause(
        "variables.C3",
        "All kernels of a schedule that list a variable give it the same value, which is the one that the graph "
        "gives it, if any.",
        "tinygrad.lazy: LazyBuffer.schedule",
        one_value,
        _bound_twice,
    ),
    ScheduleClause(
        "variables.C4",
        "The value that a kernel is given for a variable is at least the least and at most the greatest value "
        "that the schedule declares for it.",
        "tinygrad.schedule: to_define_global",
        within_bounds,
        _binds,
    ),
    ScheduleClause(
        "variables.C5",
        "A buffer whose shape names variables has at least as many bytes as its shape needs with the greatest "
        "values of its extents.",
        "tinygrad.schedule: debuf",
        room_for_the_most,
        some_buffer(_symbolic),
    ),
    ScheduleClause(
        "variables.C6",
        "A collective that makes a value whose shape has variables is done by none of the algorithms ring, "
        "all_to_all and direct, which cut its block into chunks.",
        "tinygrad.multi: all_reduce",
        symbolic_is_naive,
        lambda facts: any(_sized(facts)),
        requirement="may",
    ),
    ScheduleClause(
        "variables.C8",
        "A call of a graph gives its function as many arguments as the function has parameters; nodes of one "
        "parameter number are one parameter.",
        "tinygrad.schedule: resolve_function",
        as_many_arguments,
        lambda facts: bool(calls(facts)),
    ),
    ScheduleClause(
        "variables.C9",
        "The parameters of a function of a graph have the numbers from 0 on, without gaps; several nodes of one "
        "number are one parameter.",
        "tinygrad.schedule: resolve_function",
        numbered,
        _parametric,
    ),
    ScheduleClause(
        "variables.C10",
        "Each argument of a call in a graph has the shape, the dtype and the device of the parameter of its "
        "number, where each variable in an extent counts as its greatest value.",
        "tinygrad.schedule: resolve_function",
        fitting_arguments,
        lambda facts: any(met(arguments, parameters) for _, arguments, parameters in calls(facts)),
    ),
)


def same_kernels(first: Facts, second: Facts) -> str | None:
    """Find an item that depends on the value of a variable, or is told another one than the second was asked for."""
    mine, theirs = keys_in_order(first, programs=True), keys_in_order(second, programs=True)
    for (number, one), (_, other) in zip(mine, theirs, strict=False):
        if one != other:
            return f"{first.name(number)} is another kernel when a variable has another value"
    if len(mine) != len(theirs):
        return "another value of a variable gives other items"
    return one_value(second) or (SILENT if _unseen(first) or _unseen(second) else None)


def _unseen(facts: Facts) -> bool:
    """Return whether nothing shows what some kernel does: it has no body, and no program has a name."""
    return some_kernel(lambda each: not each.bodies and not each.program)(facts)


VARIABLES_OF_TWO = (
    PairClause(
        "variables.C7",
        "A graph that is scheduled again with other values of its variables has the same items in the same order, "
        "which launch the same programs and are given the new values.",
        "tinygrad.lazy: _replace_bufferops",
        "rebound",
        same_kernels,
        lambda *both: any(facts.schedule.variables for facts in both),
        requirement="may",
    ),
)
