"""The verdict on a schedule: which clauses are held, which broken, and which do not speak of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.cases.schedule.form import validate_schedule
from conformance.cases.schedule.inlining import inlined
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.schedule_error import ScheduleError
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import Finding, FormClause, PairClause, Relation, ScheduleClause
from conformance.reference.schedule.facts import Facts


@dataclass(frozen=True)
class ClauseFinding:
    """What a clause says of a schedule; ``detail`` names the item and the reason where it is broken."""

    clause: str
    finding: Finding
    detail: str = ""


def read(schedule: Schedule, like: Facts | None = None) -> Facts:
    """Return what follows from a schedule, with its calls written out; raise ``ScheduleError`` for a malformed one.

    ``like`` is one made before it for nearly the same question.
    """
    validate_schedule(schedule)
    return Facts(inlined(schedule), captured=schedule, like=like)


def judge_schedule(
    schedule: Schedule | Facts, clauses: Sequence[ScheduleClause], forms: Sequence[FormClause] = ()
) -> tuple[ClauseFinding, ...]:
    """Return what each clause says of ``schedule``; of a malformed one only the clauses of form say anything."""
    try:
        facts = schedule if isinstance(schedule, Facts) else read(schedule)
    except ScheduleError as error:
        broken = [ClauseFinding(form.id, "broken", str(error)) for form in forms if form.id == error.clause]
        others = [each.id for each in forms] + [each.id for each in clauses]
        return (*broken, *(ClauseFinding(each, "silent") for each in others if each != error.clause))
    found = [ClauseFinding(form.id, "held" if form.when(facts) else "silent") for form in forms]
    undefined = False
    for clause in sorted(clauses, key=lambda clause: clause.last):
        if (clause.last and undefined) or not clause.when(facts):
            found.append(ClauseFinding(clause.id, "silent"))
        else:
            found.append(_found(clause.id, clause.check(facts)))
            undefined |= clause.requirement == "must" and found[-1].finding == "broken"
    return tuple(found)


def judge_pair(
    schedules: Sequence[Schedule | Facts], relation: Relation, clauses: Sequence[PairClause]
) -> tuple[ClauseFinding, ...]:
    """Return what each clause says of well-formed schedules; those after the first are its ``relation``."""
    facts = [each if isinstance(each, Facts) else Facts(inlined(each), captured=each) for each in schedules]
    return tuple(
        _found(each.id, each.check(*facts)) if each.when(*facts) else ClauseFinding(each.id, "silent")
        for each in clauses
        if each.relation == relation
    )


def _found(clause: str, detail: str | None) -> ClauseFinding:
    if detail == SILENT:
        return ClauseFinding(clause, "silent")
    return ClauseFinding(clause, "held") if detail is None else ClauseFinding(clause, "broken", detail)
