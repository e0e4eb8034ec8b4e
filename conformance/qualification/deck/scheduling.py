"""Mutants that schedule: native engines, asked without a device, each with one mistake in the schedules it makes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from conformance.backends.base import Backend, Unsupported
from conformance.cases.case import Case
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.schedule_error import ScheduleError
from conformance.judging.schedules.program_graph import with_graph
from conformance.qualification.deck.mutant import Mutant
from conformance.runner.dialect import Trial
from conformance.specs.schedules import EVERY, judge


def scheduling_mutants(classes: Sequence[type[Backend]]) -> Iterator[Mutant]:
    """Yield each class as a mutant of schedules."""
    right = _Right()
    for each in classes:
        public = bool(getattr(each, "corpus", ()))
        yield Mutant(each.__qualname__, "schedules", "written", public, _Scheduling(each, right).fails)


class _Scheduling:
    """One engine with a mistake, started when it is first asked."""

    def __init__(self, mutant: type[Backend], right: _Right) -> None:
        self._mutant, self._right = mutant, right
        self._made: Backend | None = None

    def fails(self, one: Trial) -> bool:
        """Return whether it schedules a case wrongly, where the engine that it changes does not."""
        self._made = self._made or self._mutant()
        asked, graph = one.case.of, one.subject.graph
        made = schedule_of(self._mutant, self._made, asked)
        right, broken = self._right.of(_inner(self._mutant), self._made, one)
        if made is None or _said(made) == _said(right):
            return False
        return bool(breaks(made, graph) - broken) and bool(breaks(made, graph) - broken)


class _Right:
    """What unbroken engines make of the case that is asked about now, and which clauses that breaks."""

    def __init__(self) -> None:
        self._name = ""
        self._known: dict[Any, tuple[Schedule | None, frozenset[str]]] = {}

    def of(self, inner: Any, backend: Backend, one: Trial) -> tuple[Schedule | None, frozenset[str]]:
        if self._name != one.name:
            self._name, self._known = one.name, {}
        # Engines that are told another algorithm schedule otherwise.
        key = inner, getattr(backend, "algorithm", None)
        if key not in self._known:
            made = schedule_of(inner, backend, one.case.of)
            self._known[key] = made, frozenset() if made is None else breaks(made, one.subject.graph)
        return self._known[key]


def _inner(mutant: type[Backend]) -> Any:
    """Return the correct class that a mutant changes the schedules of."""
    owners = [base for base in mutant.__mro__ if "schedule" in vars(base)]
    return next((base for base in owners if base is not mutant and not inspect.isabstract(base)), Backend)


def schedule_of(owner: Any, backend: Backend, asked: Case | Graph) -> Schedule | None:
    """Return the schedule that a class makes with a backend, ``None`` where it has none or raises something."""
    try:
        made: Schedule = owner.schedule(backend, asked)
    except Unsupported:
        return None
    except Exception:  # noqa: BLE001 - what a mistake raises is no schedule that could be judged
        return None
    return made


def _said(made: Schedule | None) -> str:
    """Return a schedule as text, in which a constant NaN is equal to itself, without the graph that was asked for."""
    return repr(made if made is None else replace(made, graph=None))


def breaks(made: Schedule, graph: Graph) -> frozenset[str]:
    """Return the clauses that a schedule of a graph breaks, those that only permit left out."""
    try:
        found = judge(with_graph(made, graph))
    except ScheduleError as error:
        return frozenset({error.clause})
    return frozenset(each.clause for each in found if each.finding == "broken" and not _may(each.clause))


def _may(clause: str) -> bool:
    return clause in EVERY and EVERY[clause].requirement == "may"
