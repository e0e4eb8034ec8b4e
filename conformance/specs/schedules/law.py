"""The master law: whatever a backend did to a graph, its values are those of eager evaluation."""

from __future__ import annotations

from conformance.judging.schedule_clause import ScheduleClause
from conformance.reference.schedule import executable, law
from conformance.reference.schedule_facts import Facts


def _runs(facts: Facts) -> bool:
    return executable(facts) is None


LAW = (
    ScheduleClause(
        "law.C1",
        "Run in its order, and in every order that its edges and waits permit and that keeps the conflicts of what is "
        "only listed, a schedule gives the values of its graph in every result and every alias, and touches no other "
        "byte.",
        "003",
        law,
        _runs,
        last=True,
    ),
)
