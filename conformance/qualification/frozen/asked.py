"""Who is asked about cases of the deck, to have answers of theirs: the reference, right variants, and mutants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from msgspec.structs import replace

from conformance.backends import protocol
from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.observation import Observation
from conformance.cases.sharded.case import ShardedCase
from conformance.qualification import graph_mutants, sharded_mutants
from conformance.qualification.auto.conditional.faulty_collectives import Fault, Faulty
from conformance.qualification.auto.conditional.faulty_values import FaultyValues
from conformance.qualification.auto.corpus import corpus
from conformance.qualification.deck.every_mutant import CONDITIONAL
from conformance.qualification.frozen.observation import Broken as Kept
from conformance.qualification.frozen.observation import Given, frozen_answer
from conformance.qualification.graph_mutants.eager import Eager
from conformance.qualification.mutants import mutants
from conformance.qualification.typed_mutants import MUTANTS as TYPED
from conformance.runner.dialect import Trial
from conformance.runner.worker.answers import Answer, Request
from conformance.runner.worker.in_process import InProcess

Make = Callable[[], Backend]


@dataclass(frozen=True)
class Answerer:
    """Somebody who answers: how it introduces itself, and what it says to one request after the other."""

    ready: protocol.Ready
    ask: Callable[[Request], Answer]

    @property
    def terms(self) -> protocol.Ready:
        """Return its introduction without its claims: no verdict depends on them, and they are most of it."""
        return replace(self.ready, claims={}, description={})


def backend(make: Make) -> Answerer:
    """Return a new backend that answers."""
    worker = InProcess(BackendSpec("frozen", ()), backend=make())
    return Answerer(worker.ready, worker.ask)


def answers(one: Trial, asked: Answerer) -> tuple[Given | Kept, ...] | None:
    """Return all answers to what a case asks, ``None`` where it lies outside the claims."""
    if one.outside(asked.ready.claims) is not None:
        return None
    found: list[Given | Kept] = []
    talk = one.dialect.dialogue(one.subject, asked.ready.terms)
    try:
        ask = next(talk)
        while True:
            answer = asked.ask(ask.request)
            found.append(frozen_answer(answer))
            ask = talk.send(answer)
    except StopIteration:
        return tuple(found)


@cache
def wrong() -> Mapping[str, Callable[[], Answerer]]:
    """Return by name what makes each mutant of the deck's kills, each time from the beginning."""
    return dict(_wrong())


def _wrong() -> Iterator[tuple[str, Callable[[], Answerer]]]:
    for each in mutants():
        yield each.__qualname__, _of(each)
    for name, way in sharded_mutants.MUTANTS.items():
        yield name, _of(lambda way=way: sharded_mutants.Changed(way))  # type: ignore[misc]  # bound now
    for name, walk in graph_mutants.MUTANTS.items():
        yield name, _observing(partial(_of_tensors, walk, sharded_mutants.MUTANTS.get(name)))
    for name, mutant in TYPED.items():
        yield name, _observing(mutant.observed)
    for made in corpus(CONDITIONAL[0] * 3, CONDITIONAL[1], ("conditional",)):
        if made.void is None and isinstance(made.made, Fault):
            yield made.name, _of(lambda fault=made.made: _faulty(fault))  # type: ignore[misc]  # bound now


def _of(make: Make) -> Callable[[], Answerer]:
    return lambda: backend(make)


def _faulty(fault: Fault) -> Backend:
    return FaultyValues(fault) if fault.of_values else Faulty(fault)


def _observing(observed: Callable[[Any], Observation]) -> Callable[[], Answerer]:
    ready = InProcess(BackendSpec("reference", ()), backend=Reference()).ready
    return lambda: Answerer(ready, lambda request: Answer(observed(request)))


def _of_tensors(walk: type[Eager], way: sharded_mutants.Way | None, case: Any) -> Observation:
    """Return what a mutant of graphs answers, or that of sharded tensors which has the same name."""
    if way is not None and isinstance(case, ShardedCase):
        return sharded_mutants.Changed(way).sharded(case)
    return graph_mutants.observed(walk, case)
