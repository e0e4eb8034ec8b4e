"""Qualification of the clauses about schedules: schedules that violate them, and engines that schedule wrongly."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from msgspec.structs import replace

from conformance.backends.base import Backend, Unsupported
from conformance.backends.discovery import BackendSpec
from conformance.cases.case import Case
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.question import ScheduleCase
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.schedule_error import ScheduleError
from conformance.judging.schedules.program_graph import NoGraph, program_graph, with_graph
from conformance.judging.schedules.verdict import Found
from conformance.qualification.kill import Mutant, unjudged
from conformance.qualification.mutant_module import MutantError, NotReached, spec_of
from conformance.qualification.violations import Violation
from conformance.runner.dialects import name_of
from conformance.runner.dialects.schedule_inquiry import Asked
from conformance.runner.schedules import drawn
from conformance.runner.worker.answers import Answer, Broken, Question
from conformance.runner.worker.in_process import InProcess
from conformance.runner.worker.workers import Worker
from conformance.specs.schedules import EVERY, PAIRS, judge, judge_two


def judged_violations(violated: Sequence[Violation]) -> Iterator[Mutant]:
    """Yield a row for every violation; it is killed when the clause it was made for is broken and no other."""
    relations = {clause.id: clause.relation for clause in PAIRS}
    for each in violated:
        began, made = time.perf_counter(), each.make()
        found = (
            judge_two(made[0], made[1], relations[each.breaks], *made[2:]) if isinstance(made, tuple) else judge(made)
        )
        broken = _broken(found)
        yield Mutant(
            name=each.name,
            breaks=each.breaks,
            killed=broken == {each.breaks},
            exact=broken == {each.breaks},
            clause=next(iter(sorted(broken)), None),
            clauses=tuple(sorted(broken)),
            cases=1,
            seconds=round(time.perf_counter() - began, 4),
            doc=each.doc,
            corpus=each.corpus,
        )


def judged_engines(mutants: Sequence[type[Backend]], examples: int, seed: int, *, in_process: bool) -> Iterator[Mutant]:
    """Yield a row for every mutant that schedules, asked for drawn programs and graphs until it is killed.

    One that is to break an unknown clause, no case reaches, that does not start or run has a row that says so, and
    so has one whose control breaks the clause too, for then that is no mutant's fault.
    """
    if not mutants:
        return
    of_each = [list(_graphs(several)) for several in drawn(examples, seed).values()]
    questions = [one for turn in zip_longest(*of_each) for one in turn if one is not None]
    judged = _Judged()
    for mutant in mutants:
        breaks = getattr(mutant, "breaks", None)
        if breaks not in {None, *EVERY}:
            yield unjudged(mutant, f"mutant {mutant.__qualname__} is to break {breaks!r}, which is no clause")
            continue
        try:
            yield _row(mutant, questions, judged, in_process=in_process)
        except MutantError as error:
            yield unjudged(mutant, str(error), reached=not isinstance(error, NotReached))


def _graphs(several: Sequence[Asked]) -> Iterator[tuple[Asked, Graph]]:
    for asked in several:
        try:
            yield asked, program_graph(asked) if isinstance(asked, Case) else asked
        except NoGraph:
            continue


def _row(
    mutant: type[Backend], questions: Sequence[tuple[Asked, Graph]], judged: _Judged, *, in_process: bool
) -> Mutant:
    began, name = time.perf_counter(), mutant.__qualname__
    breaks, differs, cases = getattr(mutant, "breaks", None), False, 0
    every: set[str] = set()
    killer: str | None = None
    seconds = 0.0
    here = _made(mutant)
    worker = InProcess(BackendSpec(name, ()), backend=here) if in_process else Worker(spec_of(mutant))
    with worker:
        for asked, graph in questions:
            made = _schedule(name, worker.ask(Question(asked)))
            if made is None:
                continue
            cases += 1
            right = _without(mutant, here, asked)
            if _said(made) == _said(right):
                continue
            differs = True
            broken = _breaks(made, graph)
            every |= broken
            if broken and killer is None:
                seconds = time.perf_counter() - began
                killer = breaks if breaks in broken else min(broken)
            if broken and (breaks is None or breaks in broken):
                if right is not None and breaks in judged.breaks(right, graph):
                    case = name_of(ScheduleCase(of=asked))
                    raise MutantError(f"what mutant {name} changes breaks {breaks} without its change too, on {case}")
                break
    if not differs:
        raise NotReached(
            f"not reached: {name} made each of {cases} schedules as it is without the change; a question that it "
            "answers otherwise was not drawn, a hole of the domain"
        )
    return Mutant(
        name=name,
        breaks=breaks,
        killed=killer is not None and (breaks is None or breaks in every),
        exact=breaks is not None and breaks in every,
        clause=killer,
        clauses=tuple(sorted(every)),
        cases=cases,
        seconds=round(seconds, 4),
        doc=" ".join((inspect.getdoc(mutant) or "").split()),
        corpus=tuple(getattr(mutant, "corpus", ())),
    )


def _made(mutant: type[Backend]) -> Backend:
    try:
        return mutant()
    except Exception as error:
        raise MutantError(f"mutant {mutant.__qualname__} does not start: {type(error).__name__}: {error}") from error


def _schedule(name: str, answer: Answer) -> Schedule | None:
    """Return the schedule that was made, ``None`` where there are no words for what was asked."""
    if isinstance(answer.result, Broken):
        raise MutantError(f"mutant {name} did not run: {answer.result.detail}")
    error = next((each for each in answer.result.errors if each is not None), None)
    if error is not None and error.category != "unsupported":
        raise MutantError(f"mutant {name} raised {error.kind}: {error.message}")
    return answer.result.schedule


def _said(made: Schedule | None) -> str:
    """Return a schedule as text, in which a constant NaN is equal to itself, without the graph that was asked for."""
    return repr(made if made is None else replace(made, graph=None))


def _without(mutant: type[Backend], backend: Backend, asked: Asked) -> Schedule | None:
    """Return what the correct backend that a mutant changes makes, ``None`` where it has no schedules."""
    owners = [base for base in mutant.__mro__ if "schedule" in vars(base)]
    inner: Any = next((base for base in owners if base is not mutant and not inspect.isabstract(base)), Backend)
    try:
        made: Schedule = inner.schedule(backend, asked)
    except Unsupported:
        return None
    return made


class _Judged:
    """The clauses that right schedules break; many mutants change the same one."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], set[str]] = {}

    def breaks(self, right: Schedule, graph: Graph) -> set[str]:
        key = (_said(right), repr(graph))
        if key not in self._known:
            self._known[key] = _breaks(right, graph)
        return self._known[key]


def _breaks(made: Schedule, graph: Graph) -> set[str]:
    """Return the clauses that a schedule of a graph breaks."""
    try:
        return _broken(judge(with_graph(made, graph)))
    except ScheduleError as error:
        return {error.clause}


def _broken(found: Sequence[Found]) -> set[str]:
    return {each.clause for each in found if each.finding == "broken"}
