"""Who is asked about cases of the deck, to have answers of theirs: the reference, right variants, and mutants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from conformance.backends import protocol
from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.backends.exceptions import rank_error
from conformance.backends.reference import Reference
from conformance.cases.observation import Observation
from conformance.cases.tensor.tensor import from_array
from conformance.qualification import graph_mutants, sharded_mutants
from conformance.qualification.auto.conditional.faulty_collectives import Fault, Faulty
from conformance.qualification.auto.conditional.faulty_values import FaultyValues
from conformance.qualification.auto.corpus import corpus
from conformance.qualification.deck.every_mutant import CONDITIONAL
from conformance.qualification.frozen.observation import Broken as Kept
from conformance.qualification.frozen.observation import Given, frozen_answer
from conformance.qualification.mutants import mutants
from conformance.qualification.typed_mutants import MUTANTS as TYPED
from conformance.runner.dialect import Trial
from conformance.runner.worker.answers import Answer, Request
from conformance.runner.worker.in_process import InProcess

Make = Callable[[], Backend]


@dataclass(frozen=True)
class Asked:
    """Somebody who answers: how it introduces itself, and what it says to one request after the other."""

    ready: protocol.Ready
    ask: Callable[[Request], Answer]


def backend(make: Make) -> Asked:
    """Return a new backend that answers."""
    worker = InProcess(BackendSpec("frozen", ()), backend=make())
    return Asked(worker.ready, worker.ask)


def answers(one: Trial, asked: Asked) -> tuple[Given | Kept, ...] | None:
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
def wrong() -> Mapping[str, Callable[[], Asked]]:
    """Return by name what makes each mutant of the deck's kills, each time from the beginning."""
    return dict(_wrong())


def _wrong() -> Iterator[tuple[str, Callable[[], Asked]]]:
    for each in mutants():
        yield each.__qualname__, _of(each)
    for name, way in sharded_mutants.MUTANTS.items():
        yield name, _of(lambda way=way: sharded_mutants.Changed(way))  # type: ignore[misc]  # bound now
    for name, walk in graph_mutants.MUTANTS.items():
        yield name, _observing(lambda case, walk=walk: _walked(walk, case))  # type: ignore[misc]  # bound now
    for name, mutant in TYPED.items():
        yield name, _observing(mutant.observed)
    for made in corpus(CONDITIONAL[0] * 3, CONDITIONAL[1], ("conditional",)):
        if made.void is None and isinstance(made.made, Fault):
            yield made.name, _of(lambda fault=made.made: _faulty(fault))  # type: ignore[misc]  # bound now


def _of(make: Make) -> Callable[[], Asked]:
    return lambda: backend(make)


def _faulty(fault: Fault) -> Backend:
    return FaultyValues(fault) if fault.of_values else Faulty(fault)


def _observing(observed: Callable[[Any], Observation]) -> Callable[[], Asked]:
    ready = InProcess(BackendSpec("reference", ()), backend=Reference()).ready
    return lambda: Asked(ready, lambda request: Answer(observed(request)))


def _walked(walk: Any, case: Any) -> Observation:
    try:
        return Observation(results={key: (from_array(array),) for key, array in walk(case).run().items()})
    except Exception as error:  # noqa: BLE001 - whatever a mutant raises is its observation
        return Observation(errors=(rank_error(error),))
