"""The master law: whatever a backend did to a graph, its values are those of eager evaluation."""

from __future__ import annotations

from typing import Final

from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import kind
from conformance.judging.schedules.clause import ScheduleClause
from conformance.reference.schedule.execute import beside_nan, executable, law
from conformance.reference.schedule.facts import Facts


def _runs(facts: Facts) -> bool:
    return executable(facts) is None


_EXTREMES: Final = ("max", "min")


def _compares(facts: Facts) -> bool:
    """Speak of maxima and minima of floats, where the schedule can be run."""
    graph = facts.schedule.graph
    nodes = (*graph.nodes, *(node for each in graph.functions.values() for node in each.nodes)) if graph else ()
    return any(_extreme(node) for node in nodes) and _runs(facts)


def _extreme(node: Node) -> bool:
    words = (node.arg if node.op == "alu" else node.fold, node.attrs.get("op"))
    return kind(node.dtype) == "float" and any(word in _EXTREMES for word in words)


LAW = (
    ScheduleClause(
        "law.C1",
        "Run in its order, and in every order that its edges and waits permit and that keeps the conflicts of what is "
        "only listed, a schedule gives the values of its graph in every result and every alias, and touches no other "
        "byte.",
        "tinygrad.lazy: LazyBuffer.schedule",
        law,
        _runs,
        last=True,
    ),
    ScheduleClause(
        "law.C2",
        "A maximum or a minimum of a NaN and a number is a NaN.",
        "ours",
        beside_nan,
        _compares,
        requirement="should",
        last=True,
    ),
)
