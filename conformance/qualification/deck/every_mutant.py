"""The mutants that the deck is measured by: written ones, and such as are made for conditions, family by family."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from conformance.backends.base import Backend
from conformance.backends.reference import Reference
from conformance.backends.worker import typed
from conformance.cases.observation import Observation
from conformance.qualification import graph_mutants, sharded_mutants
from conformance.qualification.auto.conditional.collective_words import words_in
from conformance.qualification.auto.conditional.faulty_collectives import Fault, Faulty
from conformance.qualification.auto.conditional.faulty_values import FaultyValues
from conformance.qualification.auto.conditional.value_words import DIALECT
from conformance.qualification.auto.corpus import corpus
from conformance.qualification.changed_methods import control_of, operations_of
from conformance.qualification.deck.asking import Control, WrittenMutant, fails_in
from conformance.qualification.deck.mutant import Mutant
from conformance.qualification.deck.scheduling import scheduling_mutants
from conformance.qualification.judged_mutant import fails
from conformance.qualification.mutants import mutants
from conformance.qualification.mutants.corpus import CORPUS
from conformance.qualification.schedule_mutants import schedule_mutants
from conformance.qualification.typed_mutants import BY_OPERATION
from conformance.runner.dialect import Trial
from conformance.specs.types.verdict import judge

CONDITIONAL: Final = (300, 7)
"""How many automatic mutants are made for conditions, and the seed."""


def every_mutant(families: Sequence[str]) -> list[Mutant]:
    """Return the mutants of some families."""
    made: Mapping[str, Callable[[], Iterator[Mutant]]] = {
        "collectives": _programs,
        "graphs": _graphs,
        "sharding": _sharded,
        "types": _typed,
        "schedules": lambda: scheduling_mutants(schedule_mutants()),
    }
    found = [each for family in families if family in made for each in made[family]()]
    return found + [each for each in _conditional() if each.family in families]


def _programs() -> Iterator[Mutant]:
    every = mutants()
    controls: dict[type[Backend], Control] = {}
    for each in every:
        base = control_of(each, every) or Reference
        control = controls.setdefault(base, Control(base))
        yield Mutant(
            each.__qualname__,
            "collectives",
            "written",
            bool(getattr(each, "corpus", ())),
            WrittenMutant(each, control).fails,
            _of_operations(each, every),
        )


def _of_operations(mutant: type[Backend], every: Sequence[type[Backend]]) -> Callable[[Trial], bool]:
    ops = frozenset(operations_of(mutant, every))
    return lambda one: not ops.isdisjoint(one.facts.ops)


def _graphs() -> Iterator[Mutant]:
    public = {way for report in CORPUS for way in report.ways}

    def failing(walk: Any) -> Callable[[Trial], bool]:
        return lambda one: (
            fails(graph_mutants.tried(walk, one.subject)) and fails(graph_mutants.tried(walk, one.subject))
        )

    for name, walk in graph_mutants.MUTANTS.items():
        yield Mutant(name, "graphs", "written", name in public, failing(walk), lambda one: bool(one.subject.legal))


def _sharded() -> Iterator[Mutant]:
    public = {way for report in CORPUS for way in report.ways}
    control = Control(Reference)

    def failing(way: Any) -> Callable[[Trial], bool]:
        return lambda one: fails_in(one, sharded_mutants.Changed(way), control)

    for name, way in sharded_mutants.MUTANTS.items():
        yield Mutant(name, "sharding", "written", name in public, failing(way), lambda one: bool(one.subject.legal))


def _typed() -> Iterator[Mutant]:
    public = {way for report in CORPUS for way in report.ways}
    right = _Right()

    def failing(mutant: Any) -> Callable[[Trial], bool]:
        def failed(one: Trial) -> bool:
            seen = mutant.observed(one.case)
            return seen != right.observed(one) and fails(judge(one.subject, seen))

        return failed

    for op, several in BY_OPERATION.items():
        for each in several:
            yield Mutant(each.name, "types", "written", each.name in public, failing(each), _of_op(op))


def _of_op(op: str) -> Callable[[Trial], bool]:
    return lambda one: bool(one.facts.op == op)


class _Right:
    """What the reference makes of the typed case that is asked about now."""

    def __init__(self) -> None:
        self._name, self._seen = "", Observation()

    def observed(self, one: Trial) -> Observation:
        if self._name != one.name:
            self._name, self._seen = one.name, typed(Reference(), one.case)
        return self._seen


class _Met:
    """The words of the case that is asked about now: a fault shows nowhere but where its condition is met."""

    def __init__(self) -> None:
        self._name, self._words = "", list[frozenset[str]]()

    def met(self, one: Trial, fault: Fault) -> bool:
        if self._name != one.name:
            self._name, self._words = one.name, [words for _, words in words_in(one.case)]
        return any(fault.met(words) for words in self._words)


def _conditional() -> Iterator[Mutant]:
    of = {"types": "types", "global": "sharding", "graph": "graphs"}
    met, control = _Met(), Control(Reference)
    for each in corpus(CONDITIONAL[0] * 3, CONDITIONAL[1], ("conditional",)):
        fault = each.made
        if each.void is not None or not isinstance(fault, Fault):
            continue
        dialect = next((word.removeprefix(DIALECT) for word in fault.condition if word.startswith(DIALECT)), "")
        family = of.get(dialect, "collectives")
        make: Callable[[Fault], Faulty | FaultyValues] = FaultyValues if fault.of_values else Faulty
        yield Mutant(each.name, family, "conditional", False, _faulty(make, fault, control), _meeting(met, fault))


def _faulty(make: Callable[[Fault], Faulty | FaultyValues], fault: Fault, control: Control) -> Callable[[Trial], bool]:
    def failed(one: Trial) -> bool:
        backend = make(fault)
        return fails_in(one, backend, control) and backend.applied > 0

    return failed


def _meeting(met: _Met, fault: Fault) -> Callable[[Trial], bool]:
    return lambda one: met.met(one, fault)
