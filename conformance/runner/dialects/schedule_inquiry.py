"""What is asked about one schedule, and what every clause about schedules says of the answers.

The schedule of a program or a graph is asked for; where that keeps every *must* alone, others that have to agree with
it are asked for too.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import msgspec
from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.schedule.work import schedule_work
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.work import check_work
from conformance.judging.schedules.clause import Relation
from conformance.judging.schedules.program_graph import program_graph, with_graph
from conformance.judging.schedules.verdict import ClauseFinding, read
from conformance.reference.schedule.facts import Facts
from conformance.runner.dialect import Ask
from conformance.runner.dialects.second_schedules import OPTIONAL, SECOND, ProgramOrGraph, another_graph, seconds
from conformance.runner.worker.answers import Answer, Broken, Question
from conformance.specs.schedules import CLAUSE_BY_ID, judge, judge_musts, judge_two

UNASKED: Final = ("not_run", "adapter_error")
"""Outcomes of a question that the implementation never got: of a case they say that it was not judged."""

LEAD: Final = 60
"""Characters that tell one message from another; more of them begin to tell one case from another."""


@dataclass(frozen=True)
class MissingSchedule:
    """What came instead of a schedule.

    ``outcome`` is ``refused``, ``errored``, ``adapter_error``, ``malformed`` (for other storages than were asked about,
    or a second schedule; ``clause`` is what it breaks), or how the backend broke. ``error`` is the class of what was
    raised, or what ended the process.
    """

    outcome: str
    detail: str = ""
    error: str | None = None
    clause: str | None = None


@dataclass(frozen=True)
class JudgedSchedule:
    """What came of one question: a ``schedule`` and what each clause says, or what is ``missing``.

    ``second`` has the relations that were judged, each with the schedules that are it. ``troubles`` say what came
    instead of the others, and what clauses these break themselves, each by the way in which that fails: the relation
    and the clause, or the outcome and the reason. ``notes`` fail nothing.
    """

    missing: MissingSchedule | None = None
    found: tuple[ClauseFinding, ...] = ()
    schedule: Schedule | None = None
    second: Mapping[Relation, tuple[Schedule, ...]] = field(default_factory=dict)
    troubles: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def ways(self) -> dict[str, str]:
        """Return the ways in which it fails, each with the detail: clauses that are broken, or what came instead."""
        if self.missing is not None:
            if self.missing.outcome in ("unsupported", "refused", *UNASKED):
                return {}
            return {f"{self.missing.outcome} {reason(self.missing.detail)}".strip(): self.missing.detail}
        return {each.clause: each.detail for each in self.found if each.finding == "broken"} | dict(self.troubles)


Inquiry = Generator[Ask, Answer, JudgedSchedule]
_Made = Generator[Ask, Answer, Schedule | MissingSchedule]


def graph_of(asked: ProgramOrGraph) -> Graph:
    """Return the graph of a program, or the graph itself; raise ``NoGraph`` for a program that has none."""
    return program_graph(asked) if isinstance(asked, Case) else asked


def inquiry(asked: ProgramOrGraph, graph: Graph) -> Inquiry:
    """Ask for the schedule of ``asked``, whose graph is ``graph``, and for those that have to agree with it."""
    first = yield from _schedule(Question(asked), graph)
    if isinstance(first, MissingSchedule):
        return JudgedSchedule(first)
    facts: Facts | None = None
    try:
        with suppress(ScheduleError):  # which the clauses of form name
            facts = read(first)
        found = list(judge(first if facts is None else facts))
    except Exception as error:  # noqa: BLE001 - whatever a schedule does to a checker must not end the run
        return JudgedSchedule(_unjudgeable(error), schedule=first)
    if facts is None or _wrong(found):
        # Of a schedule that is wrong alone, a second one would only say so again.
        return JudgedSchedule(None, tuple(found), first)
    second: dict[Relation, tuple[Schedule, ...]] = {}
    troubles: dict[str, str] = {}
    notes: list[str] = []
    for relation, questions in seconds(asked, facts):
        came = yield from _second(facts, relation, questions)
        if isinstance(came, JudgedSchedule):
            found += came.found
            second[relation] = came.second[relation]
            troubles |= came.troubles
        elif came.outcome in UNASKED:
            if _wrong(found) or troubles:
                break
            return JudgedSchedule(came)
        elif came.outcome == "refused" and (relation in OPTIONAL or another_graph(asked, relation)):
            notes.append(f"asked {SECOND[relation]}, refused: {reason(came.detail)}")
        else:
            way = f"{relation} {came.outcome} {reason(came.detail)}".strip()
            troubles[way] = f"asked {SECOND[relation]}, {came.outcome}: {came.detail}"
    return JudgedSchedule(None, tuple(found), first, second, troubles, tuple(notes))


def reason(detail: str) -> str:
    """Return why something is so, in words before and after the first colon that name nothing of the one case."""
    head, _, rest = re.sub(r"'[^']*'|\d+", "_", detail).partition(":")
    lead = re.match(r"[\w, -]*", rest.strip())
    assert lead is not None
    return ": ".join(part for each in (head, lead[0]) if (part := each[:LEAD].strip()))


def _second(
    first: Facts, relation: Relation, questions: Sequence[Question]
) -> Generator[Ask, Answer, JudgedSchedule | MissingSchedule]:
    """Ask for the schedules that are the ``relation`` of the first, and judge them."""
    made: list[Schedule] = []
    facts: list[Facts] = []
    try:
        for question in questions:
            came = yield from _schedule(question, graph_of(question.asked), elsewhere=relation == "again")
            if isinstance(came, MissingSchedule):
                return came
            made.append(came)
            # What follows from the same schedule is known.
            facts.append(first if _same(came, first, relation) else read(came, first))
        found = judge_two(first, facts[0], relation, *facts[1:])
        troubles = {} if _wrong(found) else _wrong_alone(first, relation, facts)
    except ScheduleError as error:
        return MissingSchedule("malformed", str(error), clause=error.clause)
    except Exception as error:  # noqa: BLE001 - whatever a schedule does to a checker must not end the run
        return _unjudgeable(error)
    return JudgedSchedule(None, found, second={relation: tuple(made)}, troubles=troubles)


def _schedule(question: Question, graph: Graph, *, elsewhere: bool = False) -> _Made:
    """Ask for one schedule."""
    answer = yield Ask(question, elsewhere)
    if isinstance(answer.result, Broken):
        return MissingSchedule(answer.result.outcome, answer.result.detail, answer.result.error)
    error = next((each for each in answer.result.errors if each is not None), None)
    if error is not None:
        outcome = {"unsupported": "refused", "adapter": "adapter_error"}.get(error.category, "errored")
        told = error.message if outcome == "refused" else f"{error.kind}: {error.message}"
        return MissingSchedule(outcome, told, error.kind)
    assert answer.result.schedule is not None  # else the answer would not have fitted the question
    much = _too_much(question, answer.result.schedule)
    if much is not None:
        return MissingSchedule("not_run", much)
    try:
        return with_graph(answer.result.schedule, graph)
    except ScheduleError as wrong:
        return MissingSchedule("malformed", str(wrong), clause=wrong.clause)


def _too_much(question: Question, schedule: Schedule) -> str | None:
    """Return how judging a schedule asks for more than the environment allows: it may be right, and nobody knows."""
    # The graph of a program is known when it is judged; of its runs the storages say as much.
    graph = question.asked if isinstance(question.asked, Graph) else Graph(nodes=(), results=())
    try:
        check_work(schedule_work(replace(schedule, graph=graph)))
    except CaseError as error:
        return f"the schedule is too much to be judged: {error}"
    return None


def _unjudgeable(error: Exception) -> MissingSchedule:
    return MissingSchedule("errored", f"judging: {type(error).__name__}: {error}", type(error).__name__)


def _wrong(found: Sequence[ClauseFinding]) -> bool:
    return any(each.finding == "broken" and CLAUSE_BY_ID[each.clause].requirement == "must" for each in found)


def _same(schedule: Schedule, first: Facts, relation: Relation) -> bool:
    """Return whether a schedule is the first in every bit: a zero of another sign makes another one.

    Where the graph of the question differs from the first in the order of results, or in a node that nothing needs, it
    is so if all else is: the values that the same items have to give are the same.
    """
    known = first.captured
    if known is not None and relation in ("reordered", "dropped"):
        schedule, known = _without_graph(schedule), _without_graph(known)
    return schedule == known and msgspec.json.encode(schedule) == msgspec.json.encode(known)


def _without_graph(schedule: Schedule) -> Schedule:
    return replace(schedule, graph=None, places=tuple(sorted(schedule.places, key=lambda place: place.node)))


def _wrong_alone(first: Facts, relation: Relation, made: Sequence[Facts]) -> dict[str, str]:
    """Return the ways in which second schedules break a *must* themselves: all but what is to do once more."""
    return {
        f"{relation} {each.clause}": f"asked {SECOND[relation]}, {each.clause}: {each.detail}"
        for one in made
        # Nothing is there any more that what is left could be right about. The same schedule was judged before.
        if relation != "afterwards" and one is not first
        for each in judge_musts(one)
        if each.finding == "broken"
    }
