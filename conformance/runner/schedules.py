"""The schedules that backends make of random programs and graphs, judged by every clause about schedules."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from typing import Final

import msgspec
from msgspec.structs import replace

from conformance.backends.protocol import Ready
from conformance.cases.case import Case, case_id
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.error import ScheduleError
from conformance.cases.schedule.form import validate_schedule
from conformance.cases.schedule.schedule import Schedule
from conformance.judging.schedules.clause import Found, Relation
from conformance.judging.schedules.program_graph import NoGraph, program_graph, with_graph
from conformance.runner.backend_run import outside
from conformance.runner.draws import numbered
from conformance.runner.meaning import meaning
from conformance.runner.worker.answers import Answer, Broken, Question
from conformance.runner.worker.judgeable import Judgeable
from conformance.specs import SUITES
from conformance.specs.domains import choose
from conformance.specs.domains.choose import Choice
from conformance.specs.schedules import EVERY, judge, judge_two
from conformance.specs.schedules.domain.graphs import graphs

Asked = Case | Graph

PROGRAMS: Final = choose.one_of(
    *(domain for suite in ("aliasing", "async", "collectives") for domain in SUITES[suite].domains.values())
)
"""Programs of every operation: two of three have effects."""

DOMAINS: Final[Mapping[str, Choice[Asked]]] = {"programs": PROGRAMS, "graphs": graphs()}

SECOND: Final[Mapping[Relation, str]] = {
    "again": "again in another process",
    "reordered": "for its results the other way round",
    "together": "for one result and the rest apart",
    "unplanned": "without a memory plan",
    "rebound": "with other values for its variables",
    "afterwards": "for what is left once it has been run",
}
"""What is asked for again, of what keeps every *must* alone."""

LEAD: Final = 60
"""Characters that tell one message from another; more of them begin to tell one case from another."""

OPTIONAL: Final = ("unplanned", "afterwards")
"""What a backend may refuse: not each has a memory plan to turn off, nor keeps values that it computed."""


def name_of(asked: Asked) -> str:
    """Return the id of a case, and of a graph its operations and the digest of it."""
    if isinstance(asked, Case):
        return case_id(asked)
    digest = hashlib.sha256(msgspec.json.encode(asked, order="deterministic")).hexdigest()[:12]
    words = [str(node.arg) if node.op == "alu" else node.op for node in asked.nodes if node.op not in ("buf", "const")]
    return f"{'+'.join(words) or 'nothing'}/{digest}"


def drawn(examples: int, seed: int) -> dict[str, list[Asked]]:
    """Return the distinct programs and graphs of ``examples`` draws of each domain, by its name."""
    found: dict[str, list[Asked]] = {}
    for name, domain in DOMAINS.items():
        asked: Iterator[Asked] = (numbered(domain, seed, number)[0] for number in range(examples))
        found[name] = list({name_of(one): one for one in asked}.values())
    return found


@dataclass(frozen=True)
class Judged:
    """What came of one question: the ``outcome``, why it is none, or what each clause says.

    ``outcome`` is ``judged``, ``no_graph``, ``unsupported`` (outside the claims), ``refused`` (a graph: no claim is
    about those), ``over_claimed`` (refused within the claims), ``errored``, ``adapter_error``, ``malformed`` (for other
    storages than were asked about, or a second schedule), ``unstable`` (the backend broke, and not when it was asked
    alone), or how the backend broke. ``second`` has the relations that were judged, each with the schedules that are
    it. ``troubles`` say what came instead of the others, and what clauses these break themselves, each by the way in
    which that fails.
    ``notes`` fail nothing.
    """

    outcome: str
    detail: str = ""
    found: tuple[Found, ...] = ()
    schedule: Schedule | None = None
    second: Mapping[Relation, tuple[Schedule, ...]] = field(default_factory=dict)
    troubles: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def ways(self) -> dict[str, str]:
        """Return the ways in which it fails, each with the detail: clauses that are broken, or the outcome itself."""
        if self.outcome in ("unsupported", "refused", "no_graph", "not_run", "adapter_error"):
            return {}
        if self.outcome != "judged":
            return {f"{self.outcome} {reason(self.detail)}".strip(): self.detail}
        return {each.clause: each.detail for each in self.found if each.finding == "broken"} | dict(self.troubles)


def reason(detail: str) -> str:
    """Return why something is so, in words before and after the first colon that name nothing of the one case."""
    head, _, rest = re.sub(r"'[^']*'|\d+", "_", detail).partition(":")
    lead = re.match(r"[\w, -]*", rest.strip())
    assert lead is not None
    return ": ".join(part for each in (head, lead[0]) if (part := each[:LEAD].strip()))


class Asker:
    """One backend: a worker, another of it for what must be the same in every process, and its claims."""

    def __init__(self, name: str, worker: Judgeable, other: Judgeable) -> None:
        """Ask ``worker``; raise ``StartError`` when it does not start."""
        self.name, self._worker, self._other = name, worker, other
        self.ready: Ready = worker.ready
        self.known: dict[str, Judged] = {}

    def ask(self, asked: Asked) -> Judged:
        """Return what came of a question, from memory where it is known."""
        name = name_of(asked)
        if name not in self.known:
            self.known[name] = self._ask(asked)
        return self.known[name]

    def _ask(self, asked: Asked) -> Judged:
        try:
            graph = _graph(asked)
        except NoGraph as error:
            return Judged("no_graph", str(error))
        if isinstance(asked, Case):
            claim = outside(self.ready.claims, meaning(asked))
            if claim is not None:
                return Judged("unsupported", claim)
        first = self._schedule(self._worker, Question(asked), graph)
        if isinstance(first, Judged):
            # Claims are about programs; which graphs a backend has words for no data says.
            refused = first.outcome == "refused" and isinstance(asked, Case)
            return replaced(first, outcome="over_claimed") if refused else first
        try:
            found = list(judge(first))
        except Exception as error:  # noqa: BLE001 - whatever a schedule does to a checker must not end the run
            return Judged("errored", f"judging: {type(error).__name__}: {error}", (), first)
        second: dict[Relation, tuple[Schedule, ...]] = {}
        troubles: dict[str, str] = {}
        notes: list[str] = []
        # Of a schedule that is wrong alone, a second one would only say so again.
        right = not any(each.finding == "broken" and EVERY[each.clause].requirement == "must" for each in found)
        for relation, questions in _seconds(asked) if right else ():
            came = self._second(first, relation, questions)
            if came.outcome == "judged":
                found += came.found
                second[relation] = tuple(came.second[relation])
                troubles |= came.troubles
            elif came.outcome == "refused" and (relation in OPTIONAL or _another_graph(asked, relation)):
                notes.append(f"asked {SECOND[relation]}, refused: {reason(came.detail)}")
            else:
                way = f"{relation} {came.outcome} {reason(came.detail)}".strip()
                troubles[way] = f"asked {SECOND[relation]}, {came.outcome}: {came.detail}"
        return Judged("judged", "", tuple(found), first, second, troubles, tuple(notes))

    def _second(self, first: Schedule, relation: Relation, questions: Sequence[Question]) -> Judged:
        """Return what came of the questions for the schedules that are the ``relation`` of the first."""
        worker = self._other if relation == "again" else self._worker
        made: list[Schedule] = []
        try:
            for question in questions:
                came = self._schedule(worker, question, _graph(question.asked))
                if isinstance(came, Judged):
                    return came
                validate_schedule(came)
                made.append(came)
            found = judge_two(first, made[0], relation, *made[1:])
            broken = any(each.finding == "broken" and EVERY[each.clause].requirement == "must" for each in found)
            troubles = {} if broken else _wrong_alone(first, relation, made)
        except ScheduleError as error:
            return Judged("malformed", str(error))
        except Exception as error:  # noqa: BLE001 - whatever a schedule does to a checker must not end the run
            return Judged("errored", f"judging: {type(error).__name__}: {error}")
        return Judged("judged", "", found, second={relation: tuple(made)}, troubles=troubles)

    def _schedule(self, worker: Judgeable, question: Question, graph: Graph) -> Schedule | Judged:
        """Return the schedule, or what came instead."""
        answer: Answer = worker.ask(question)
        if isinstance(answer.result, Broken):
            return Judged(answer.result.outcome, answer.result.detail)
        if answer.note is not None:
            # One question at a time is asked: what broke is how the backend answers it after others.
            return Judged("unstable", answer.note)
        error = next((each for each in answer.result.errors if each is not None), None)
        if error is not None:
            outcome = {"unsupported": "refused", "adapter": "adapter_error"}.get(error.category, "errored")
            detail = error.message if outcome == "refused" else f"{error.kind}: {error.message}"
            return Judged(outcome, detail)
        assert answer.result.schedule is not None  # else the answer would not have fitted the question
        try:
            return with_graph(answer.result.schedule, graph)
        except ScheduleError as error:
            return Judged("malformed", str(error))


def _wrong_alone(first: Schedule, relation: Relation, made: Sequence[Schedule]) -> dict[str, str]:
    """Return the ways in which second schedules break a *must* themselves: all but what is to do once more."""
    return {
        f"{relation} {each.clause}": f"asked {SECOND[relation]}, {each.clause}: {each.detail}"
        for one in made
        # Nothing is there any more that what is left could be right about. The same schedule was judged before.
        if relation != "afterwards" and one != first
        for each in judge(one)
        if each.finding == "broken" and EVERY[each.clause].requirement == "must"
    }


def _another_graph(asked: Asked, relation: Relation) -> bool:
    """Return whether the second question is a graph of its own, which a backend may have no words for."""
    return relation == "together" and isinstance(asked, Graph)


def _graph(asked: Asked) -> Graph:
    """Return the graph of a program, or the graph itself; raise ``NoGraph`` for a program that has none."""
    return program_graph(asked) if isinstance(asked, Case) else asked


def _seconds(asked: Asked) -> Iterator[tuple[Relation, tuple[Question, ...]]]:
    """Yield each relation with the questions for its schedules: what is run last, for it may leave something behind."""
    yield "again", (Question(asked),)
    results = asked.program.results if isinstance(asked, Case) else asked.results
    if len(results) > 1:
        yield "reordered", (Question(_of(asked, results[::-1])),)
        yield "together", (Question(_of(asked, results[:1])), Question(_of(asked, results[1:])))
    yield "unplanned", (Question(asked, planned=False),)
    other = _rebound(asked)
    if other is not None:
        yield "rebound", (Question(other),)
    yield "afterwards", (Question(asked, after=True),)


def _of(asked: Asked, results: tuple[str, ...]) -> Asked:
    """Return the same question for other results."""
    if isinstance(asked, Case):
        return replace(asked, program=replace(asked.program, results=results))
    return replace(asked, results=results)


def _rebound(asked: Asked) -> Graph | None:
    """Return the same graph with another value for every variable that may have one, if any may."""
    if isinstance(asked, Case) or all(each.low == each.high for each in asked.variables.values()):
        return None
    others = {
        name: replace(each, value=each.high if each.value < each.high else each.low)
        for name, each in asked.variables.items()
    }
    return replace(asked, variables=others)


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """How often a clause held, was broken, and did not speak."""

    id: str
    requirement: str
    text: str
    source: str
    held: int
    broken: int
    silent: int


def tallied(answers: Sequence[Judged]) -> tuple[Tally, ...]:
    """Return for every clause how often it spoke in ``answers``."""
    counts = Counter((each.clause, each.finding) for answer in answers for each in answer.found)
    return tuple(
        Tally(
            id=name,
            requirement=clause.requirement,
            text=clause.text,
            source=clause.source,
            held=counts[name, "held"],
            broken=counts[name, "broken"],
            silent=counts[name, "silent"],
        )
        for name, clause in EVERY.items()
    )
