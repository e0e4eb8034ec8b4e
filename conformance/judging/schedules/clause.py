"""Clauses about schedules, and the verdict on one: which are held, which broken, and which do not speak of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from conformance.cases.schedule.calls import inlined
from conformance.cases.schedule.form import validate_schedule
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.schedule_error import ScheduleError
from conformance.judging.clause import Requirement
from conformance.reference.schedule.facts import Facts

Finding = Literal["held", "broken", "silent"]
Relation = Literal["afterwards", "again", "reordered", "rebound", "unplanned", "together", "cached", "dropped"]
"""What a second schedule of the same graph is: of the graph after it has run, made again in another process, of the
same results in another order, with other values for its variables, or without a memory plan; ``cached`` is made again
in the same process, ``dropped`` of the graph with a node more that nothing needs. Of those asked for ``together`` it is
that of some, and a third one that of the rest."""


@dataclass(frozen=True)
class _Sentence:
    """What all clauses have that a schedule can break; none is general or about an option, as those of programs are."""

    id: str
    text: str
    source: str
    general: ClassVar[bool] = False
    variant: ClassVar[bool] = False
    plain: ClassVar[bool] = False


@dataclass(frozen=True)
class ScheduleClause(_Sentence):
    """One sentence. ``check`` returns ``None`` when it holds, else the item and the reason.

    ``when`` says whether a schedule has anything that the sentence is about, and all that has to be known of it: of
    one that has not the clause is silent, for what is not there is neither right nor wrong. The ``last`` clauses speak
    only when no other *must* is broken: what a schedule computes that breaks one is not defined.
    """

    check: Callable[[Facts], str | None]
    when: Callable[[Facts], bool]
    requirement: Requirement = "must"
    last: bool = False
    suite: str = "schedules"


@dataclass(frozen=True)
class FormClause(_Sentence):
    """One sentence about what a schedule must be to be judged at all; the loader refuses what breaks it.

    ``when`` is as that of a ``ScheduleClause``.
    """

    when: Callable[[Facts], bool]
    requirement: Requirement = "must"
    suite: str = "schedules"


@dataclass(frozen=True)
class PairClause(_Sentence):
    """One sentence about a schedule and a second one that is its ``relation``; of some relations there are more.

    ``when`` is as that of a ``ScheduleClause``.
    """

    relation: Relation
    check: Callable[..., str | None]
    when: Callable[..., bool]
    requirement: Requirement = "must"
    suite: str = "schedules"


@dataclass(frozen=True)
class AnswerClause(_Sentence):
    """One sentence about what comes instead of a schedule: an exception, a hang, the end of a process."""

    requirement: Requirement = "must"
    suite: str = "schedules"


AnyScheduleClause = AnswerClause | FormClause | ScheduleClause | PairClause


@dataclass(frozen=True)
class Found:
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
) -> tuple[Found, ...]:
    """Return what each clause says of ``schedule``; of a malformed one only the clauses of form say anything."""
    try:
        facts = schedule if isinstance(schedule, Facts) else read(schedule)
    except ScheduleError as error:
        broken = [Found(form.id, "broken", str(error)) for form in forms if form.id == error.clause]
        others = [each.id for each in forms] + [each.id for each in clauses]
        return (*broken, *(Found(each, "silent") for each in others if each != error.clause))
    found = [Found(form.id, "held" if form.when(facts) else "silent") for form in forms]
    undefined = False
    for clause in sorted(clauses, key=lambda clause: clause.last):
        if (clause.last and undefined) or not clause.when(facts):
            found.append(Found(clause.id, "silent"))
        else:
            found.append(_found(clause.id, clause.check(facts)))
            undefined |= clause.requirement == "must" and found[-1].finding == "broken"
    return tuple(found)


def judge_pair(
    schedules: Sequence[Schedule | Facts], relation: Relation, clauses: Sequence[PairClause]
) -> tuple[Found, ...]:
    """Return what each clause says of well-formed schedules; those after the first are its ``relation``."""
    facts = [each if isinstance(each, Facts) else Facts(inlined(each), captured=each) for each in schedules]
    return tuple(
        _found(each.id, each.check(*facts)) if each.when(*facts) else Found(each.id, "silent")
        for each in clauses
        if each.relation == relation
    )


def _found(clause: str, detail: str | None) -> Found:
    return Found(clause, "held") if detail is None else Found(clause, "broken", detail)
