"""The schedules that backends make of random programs and graphs, judged by every clause about schedules."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec
from hypothesis import Phase
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from conformance.backends.claimed import supported
from conformance.backends.protocol import Ready
from conformance.cases.case import Case, case_id
from conformance.cases.features import features
from conformance.cases.graph import Graph
from conformance.cases.schedule import Schedule
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.schedule_form import validate_schedule
from conformance.judging.program_graph import NoGraph, program_graph, with_graph
from conformance.judging.schedule_clause import Found, Relation
from conformance.runner.answers import Answer, Broken, Plan
from conformance.runner.draws import in_parts
from conformance.runner.lane import Judgeable
from conformance.specs import SUITES
from conformance.specs.schedules import EVERY, judge, judge_two
from conformance.specs.schedules.graphs import graphs

Asked = Case | Graph

PROGRAMS: Final = st.sampled_from(
    [domain for suite in ("aliasing", "async", "collectives") for domain in SUITES[suite].domains.values()]
).flatmap(lambda domain: domain)
"""Programs of every operation: two of three have effects."""

DOMAINS: Final[Mapping[str, SearchStrategy[Asked]]] = {"programs": PROGRAMS, "graphs": graphs()}


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
        distinct: dict[str, Asked] = {}
        in_parts(
            domain,
            lambda asked, distinct=distinct: distinct.setdefault(name_of(asked), asked),  # type: ignore[misc]
            examples,
            seed,
            Phase.generate,
            enough=lambda: True,
        )
        found[name] = list(distinct.values())
    return found


@dataclass(frozen=True)
class Judged:
    """What came of one question: the ``outcome``, why it is none, or what each clause says.

    ``outcome`` is ``judged``, ``unsupported``, ``no_graph``, ``errored``, or how the backend broke. ``second`` has the
    relations that were judged, each with the schedules that are it.
    """

    outcome: str
    detail: str = ""
    found: tuple[Found, ...] = ()
    schedule: Schedule | None = None
    second: Mapping[Relation, tuple[Schedule, ...]] = field(default_factory=dict)

    @property
    def ways(self) -> dict[str, str]:
        """Return the ways in which it fails, each with the detail: clauses that are broken, or the outcome itself."""
        if self.outcome in ("unsupported", "no_graph", "not_run"):
            return {}
        if self.outcome != "judged":
            return {f"{self.outcome} {self.detail.partition(':')[0]}".strip(): self.detail}
        return {each.clause: each.detail for each in self.found if each.finding == "broken"}


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
        graph, outside = asked, None
        if isinstance(asked, Case):
            try:
                graph = program_graph(asked)
            except NoGraph as error:
                return Judged("no_graph", str(error))
            ops = [step.op for step in asked.program.collectives]
            outside = supported(self.ready.claims, ops, features(asked))
        assert isinstance(graph, Graph)
        if outside is not None:
            return Judged("unsupported", outside)
        first = self._schedule(self._worker, Plan(asked), graph)
        if isinstance(first, Judged):
            return first
        try:
            found = list(judge(first))
        except Exception as error:  # noqa: BLE001 - whatever a schedule does to a checker must not end the run
            return Judged("errored", f"judging: {type(error).__name__}: {error}", (), first)
        second: dict[Relation, tuple[Schedule, ...]] = {}
        # Of a schedule that is wrong alone, a second one would only say so again.
        right = all(each.finding != "broken" for each in found)
        for relation, worker, questions in self._seconds(asked) if right else ():
            bound = questions[0].asked if relation == "rebound" else graph
            assert isinstance(bound, Graph)
            made = [self._schedule(worker, each, bound) for each in questions]
            others = tuple(each for each in made if isinstance(each, Schedule) and _sound(each))
            # What cannot be had is nobody's fault here; what breaks is found when it is asked for first.
            if len(others) == len(questions):
                found += judge_two(first, others[0], relation, *others[1:])
                second[relation] = others
        return Judged("judged", "", tuple(found), first, second)

    def _seconds(self, asked: Asked) -> Iterator[tuple[Relation, Judgeable, tuple[Plan, ...]]]:
        """Yield each relation with who is asked what: what is run last, for it may leave something behind."""
        yield "again", self._other, (Plan(asked),)
        results = asked.program.results if isinstance(asked, Case) else asked.results
        if len(results) > 1:
            yield "reordered", self._worker, (Plan(_of(asked, results[::-1])),)
            yield "together", self._worker, (Plan(_of(asked, results[:1])), Plan(_of(asked, results[1:])))
        yield "unplanned", self._worker, (Plan(asked, planned=False),)
        other = _rebound(asked)
        if other is not None:
            yield "rebound", self._worker, (Plan(other),)
        yield "afterwards", self._worker, (Plan(asked, after=True),)

    def _schedule(self, worker: Judgeable, plan: Plan, graph: Graph) -> Schedule | Judged:
        answer: Answer = worker.ask(plan)
        if isinstance(answer.result, Broken):
            return Judged(answer.result.outcome, answer.result.detail)
        error = next((each for each in answer.result.errors if each is not None), None)
        if error is not None:
            outcome = "unsupported" if error.category == "unsupported" else "errored"
            return Judged(outcome, error.message if outcome == "unsupported" else f"{error.kind}: {error.message}")
        assert answer.result.schedule is not None  # else the answer would not have fitted the question
        return with_graph(answer.result.schedule, graph)


def _sound(schedule: Schedule) -> bool:
    try:
        validate_schedule(schedule)
    except ScheduleError:
        return False
    return True


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
