"""What must hold of schedules, whoever made them: one short file for each group of invariants.

What a graph's values are stands in ``specs.graphs``.
"""

from __future__ import annotations

from typing import Final

from conformance.cases.schedule.schedule import Schedule
from conformance.judging.schedules.clause import AnyScheduleClause, PairClause, Relation, ScheduleClause
from conformance.judging.schedules.verdict import ClauseFinding, judge_pair, judge_schedule
from conformance.reference.schedule.facts import Facts
from conformance.specs.schedules.answers import ANSWERS
from conformance.specs.schedules.assign import ASSIGN
from conformance.specs.schedules.bodies import BODIES
from conformance.specs.schedules.communication import COMMUNICATION, COMMUNICATION_OF_TWO
from conformance.specs.schedules.communication_calls import COMMUNICATION_CALLS, COMMUNICATION_CALLS_OF_TWO
from conformance.specs.schedules.copies import COPIES
from conformance.specs.schedules.counts import COUNTS
from conformance.specs.schedules.dedup import DEDUP, DEDUP_OF_TWO
from conformance.specs.schedules.form import FORM
from conformance.specs.schedules.fusion import FUSION
from conformance.specs.schedules.law import INFORMATION_FLOW, LAW
from conformance.specs.schedules.memory import MEMORY, MEMORY_OF_TWO
from conformance.specs.schedules.movement import MOVED
from conformance.specs.schedules.no_kernel import NO_KERNEL
from conformance.specs.schedules.order import ORDER, ORDER_OF_TWO
from conformance.specs.schedules.splits import SPLITS
from conformance.specs.schedules.staging import STAGING
from conformance.specs.schedules.variables import VARIABLES, VARIABLES_OF_TWO
from conformance.specs.schedules.waits import WAITS

CLAUSES: Final[tuple[ScheduleClause, ...]] = (
    *ORDER,
    *NO_KERNEL,
    *MOVED,
    *DEDUP,
    *FUSION,
    *SPLITS,
    *COPIES,
    *COUNTS,
    *ASSIGN,
    *VARIABLES,
    *MEMORY,
    *BODIES,
    *STAGING,
    *WAITS,
    *COMMUNICATION,
    *COMMUNICATION_CALLS,
    *LAW,
    *INFORMATION_FLOW,
)
"""The clauses about one schedule."""

MUSTS: Final = tuple(clause for clause in CLAUSES if clause.requirement == "must")
"""Those of them that a schedule has to keep."""

PAIRS: Final[tuple[PairClause, ...]] = (
    *ORDER_OF_TWO,
    *DEDUP_OF_TWO,
    *VARIABLES_OF_TWO,
    *MEMORY_OF_TWO,
    *COMMUNICATION_OF_TWO,
    *COMMUNICATION_CALLS_OF_TWO,
)
"""The clauses about two schedules of one graph."""


CLAUSE_BY_ID: Final[dict[str, AnyScheduleClause]] = {
    clause.id: clause for group in (ANSWERS, FORM, CLAUSES, PAIRS) for clause in group
}
"""All clauses about schedules, by id; the most particular are the last."""


def judge(schedule: Schedule | Facts) -> tuple[ClauseFinding, ...]:
    """Return what every clause says of a schedule."""
    return judge_schedule(schedule, CLAUSES, FORM)


def judge_musts(facts: Facts) -> tuple[ClauseFinding, ...]:
    """Return what every *must* says of a well-formed schedule."""
    return judge_schedule(facts, MUSTS)


def judge_two(
    first: Schedule | Facts, second: Schedule | Facts, relation: Relation, *more: Schedule | Facts
) -> tuple[ClauseFinding, ...]:
    """Return what every clause about ``relation`` says of two well-formed schedules, or ``more``."""
    return judge_pair((first, second, *more), relation, PAIRS)


__all__ = ["ANSWERS", "CLAUSES", "CLAUSE_BY_ID", "FORM", "PAIRS", "judge", "judge_musts", "judge_two"]
