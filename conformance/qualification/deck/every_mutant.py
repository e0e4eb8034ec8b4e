"""The mutants that the deck is measured by: written ones, and such as are made for conditions, family by family."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from conformance.backends.base import Backend
from conformance.backends.reference import Reference
from conformance.qualification.asking import Control, WrittenMutant, fails_in
from conformance.qualification.auto.conditional.collective_words import words_in
from conformance.qualification.auto.conditional.faulty_collectives import Fault, Faulty
from conformance.qualification.auto.conditional.faulty_values import FaultyValues
from conformance.qualification.auto.conditional.value_words import DIALECT
from conformance.qualification.auto.corpus import corpus
from conformance.qualification.changed_methods import PROGRAMS, SCHEDULES, operations_of, unchanged
from conformance.qualification.changed_references import CHANGED_REFERENCES, PatchedTypes, PlacedTensors, WalkedGraphs
from conformance.qualification.deck.mutant import Mutant
from conformance.qualification.mutants import mutants
from conformance.qualification.schedule_mutants import schedule_mutants
from conformance.runner.dialect import Trial

CONDITIONAL: Final = (300, 7)
"""How many automatic mutants are made for conditions, and the seed."""


def every_mutant(families: Sequence[str]) -> list[Mutant]:
    """Return the mutants of some families."""
    made: Mapping[str, tuple[str, Sequence[type[Backend]]]] = {
        "collectives": (PROGRAMS, mutants()),
        "schedules": (SCHEDULES, schedule_mutants()),
        "graphs": ("graph", [each for each in CHANGED_REFERENCES if issubclass(each, WalkedGraphs)]),
        "sharding": ("global", [each for each in CHANGED_REFERENCES if issubclass(each, PlacedTensors)]),
        "types": ("types", [each for each in CHANGED_REFERENCES if issubclass(each, PatchedTypes)]),
    }
    found = [each for family in families if family in made for each in _written(family, *made[family])]
    return found + [each for each in _conditional() if each.family in families]


def _written(family: str, dialect: str, every: Sequence[type[Backend]]) -> Iterator[Mutant]:
    """Yield the classes of a family as mutants of a dialect, each beside the unbroken class that it changes."""
    controls: dict[type[Backend], Control] = {}
    for each in every:
        base = unchanged(each, dialect, every)
        control = controls[base] = controls.get(base) or Control(base)
        public = bool(getattr(each, "corpus", ()))
        about = _about(each, dialect, every)
        yield Mutant(each.__qualname__, family, "written", public, WrittenMutant(each, control).fails, about)


def _about(mutant: type[Backend], dialect: str, every: Sequence[type[Backend]]) -> Callable[[Trial], bool]:
    """Return whether a case is about what a mutant changes."""
    ops = frozenset(operations_of(mutant, every) if dialect == PROGRAMS else getattr(mutant, "ops", ()))
    return lambda one: not ops or not ops.isdisjoint(one.facts.ops)


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
