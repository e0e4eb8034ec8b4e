"""Mutants as the deck is measured by them: each kills a case, or does not, in a process that is its own afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.backends.worker import typed
from conformance.cases.observation import Observation
from conformance.judging.verdict import Verdict
from conformance.qualification import graph_mutants, sharded_mutants
from conformance.qualification.auto.conditional.collective_words import words_in
from conformance.qualification.auto.conditional.faulty_collectives import Fault, Faulty
from conformance.qualification.auto.conditional.faulty_values import FaultyValues
from conformance.qualification.auto.conditional.value_words import DIALECT
from conformance.qualification.auto.corpus import corpus
from conformance.qualification.auto.running.answers import told
from conformance.qualification.changed_methods import control_of, operations_of
from conformance.qualification.judged_mutant import fails
from conformance.qualification.mutants import mutants
from conformance.qualification.mutants.corpus import CORPUS
from conformance.qualification.typed_mutants import BY_OPERATION
from conformance.runner.dialect import Trial
from conformance.runner.worker.answers import Broken
from conformance.runner.worker.in_process import InProcess
from conformance.specs.types.verdict import judge

Half = Literal["public", "seen", "unseen"]

CONDITIONAL: Final = (300, 7)
"""How many automatic mutants are made for conditions, and the seed."""


@dataclass(frozen=True)
class Mutant:
    """A mutant of a family; ``fails`` says of a case with its meaning whether it fails, each time from the beginning.

    ``of`` is ``written`` or ``conditional``. One that stands for a ``public`` report is a goal like any clause; of the
    others the digests of their names make two halves, and nothing is chosen by the ``unseen`` one.
    """

    name: str
    family: str
    of: str
    public: bool
    fails: Callable[[Trial], bool]
    about: Callable[[Trial], bool] = lambda one: True

    @property
    def half(self) -> Half:
        """Return the half that it is in."""
        return "public" if self.public else half_of(self.name)


def half_of(name: str) -> Literal["seen", "unseen"]:
    """Return the half that a name is in."""
    return "seen" if hashlib.sha256(name.encode()).digest()[0] % 2 == 0 else "unseen"


def every_mutant(families: Sequence[str]) -> list[Mutant]:
    """Return the mutants of some families."""
    made: Mapping[str, Callable[[], Iterator[Mutant]]] = {
        "collectives": _programs,
        "graphs": _graphs,
        "sharding": _sharded,
        "types": _typed,
    }
    found = [each for family in families if family in made for each in made[family]()]
    return found + [each for each in _conditional() if each.family in families]


def fails_in(one: Trial, backend: Backend) -> bool:
    """Return whether a backend fails a case: a *must* or a *should* is broken."""
    worker = InProcess(BackendSpec("mutant", ()), backend=backend)
    if one.outside(worker.ready.claims) is not None:
        return False
    return fails(judged(one, worker))


def judged(one: Trial, worker: InProcess) -> Verdict:
    """Return the verdict on a worker's answers to a case."""
    talk = one.dialect.dialogue(one.subject, worker.ready.terms)
    try:
        ask = next(talk)
        while True:
            ask = talk.send(worker.ask(ask.request))
    except StopIteration as ended:
        verdict: Verdict = ended.value
        return verdict


def _programs() -> Iterator[Mutant]:
    every = mutants()
    controls: dict[type[Backend], _Answers] = {}
    for each in every:
        base = control_of(each, every) or Reference
        control = controls.setdefault(base, _Answers(base))
        yield Mutant(
            each.__qualname__,
            "collectives",
            "written",
            bool(getattr(each, "corpus", ())),
            _WrittenMutant(each, control).fails,
            _of_operations(each, every),
        )


def _of_operations(mutant: type[Backend], every: Sequence[type[Backend]]) -> Callable[[Trial], bool]:
    ops = frozenset(operations_of(mutant, every))
    return lambda one: not ops.isdisjoint(one.facts.ops)


class _Answers:
    """What an unbroken class answers, kept for the case that is asked about now."""

    def __init__(self, backend: type[Backend]) -> None:
        self._worker = InProcess(BackendSpec(backend.__qualname__, ()), backend=backend())
        self._name, self._told = "", b""

    def told(self, one: Trial) -> bytes:
        if self._name != one.name:
            self._name, self._told = one.name, told(self._worker.ask(one.case))
        return self._told


class _WrittenMutant:
    """One mutant, asked with what it remembers of earlier cases, and, where it fails, once more without."""

    def __init__(self, mutant: type[Backend], control: _Answers) -> None:
        self._mutant, self._control = mutant, control
        self._worker = InProcess(BackendSpec(mutant.__qualname__, ()), backend=mutant())

    def fails(self, one: Trial) -> bool:
        ready = self._worker.ready
        if one.outside(ready.claims) is not None:
            return False
        answer = self._worker.ask(one.case)
        if not isinstance(answer.result, Broken) and told(answer) == self._control.told(one):
            return False
        # What it kept of other cases is nothing that another run would see again.
        return fails_in(one, self._mutant())


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

    def failing(way: Any) -> Callable[[Trial], bool]:
        return lambda one: fails_in(one, sharded_mutants.Changed(way))

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
    met = _Met()
    for each in corpus(CONDITIONAL[0] * 3, CONDITIONAL[1], ("conditional",)):
        fault = each.made
        if each.void is not None or not isinstance(fault, Fault):
            continue
        dialect = next((word.removeprefix(DIALECT) for word in fault.condition if word.startswith(DIALECT)), "")
        family = of.get(dialect, "collectives")
        make: Callable[[Fault], Faulty | FaultyValues] = FaultyValues if fault.of_values else Faulty
        yield Mutant(each.name, family, "conditional", False, _faulty(make, fault), _meeting(met, fault))


def _faulty(make: Callable[[Fault], Faulty | FaultyValues], fault: Fault) -> Callable[[Trial], bool]:
    def failed(one: Trial) -> bool:
        backend = make(fault)
        return fails_in(one, backend) and backend.applied > 0

    return failed


def _meeting(met: _Met, fault: Fault) -> Callable[[Trial], bool]:
    return lambda one: met.met(one, fault)
