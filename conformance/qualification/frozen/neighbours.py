"""What somebody might have answered instead: frozen answers altered in one way, declared otherwise, and near misses.

The clauses say which of them are right: a neighbour that breaks none is permitted, and one that breaks some is wrong by
these. So a neighbour is an observation of the clauses, and of nobody's idea of which clause it is for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from itertools import islice
from random import Random  # not for secrets: the same answers must have the same neighbours
from typing import Any

from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.declarations.terms import SYSTEMS
from conformance.cases.graph.case import GraphCase, keys
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.types.typed_case import TypedCase
from conformance.qualification.frozen.altered import altered, rarely, touching
from conformance.qualification.frozen.declared import declared
from conformance.qualification.frozen.more import more
from conformance.qualification.frozen.near import near_misses
from conformance.qualification.frozen.observation import FrozenObservation, Given
from conformance.qualification.frozen.structure import otherwise
from conformance.qualification.frozen.told_otherwise import answering
from conformance.qualification.frozen.untold import untold
from conformance.qualification.frozen.verdicts import NEEDED, Judge


def neighbours(frozen: FrozenObservation, answers: int, terms: int) -> Iterator[FrozenObservation]:
    """Yield so many neighbours of what somebody answered and of other ``terms``, all rare ones, and near misses.

    One of them is the answer of somebody who follows every source, too: no divergence excuses what it does not make.
    """
    random = Random(f"{frozen.by} {frozen.name}")  # noqa: S311 - as said where it is imported
    judge = Judge(*map(import_module, NEEDED))
    said = [(at, each.seen) for at, each in enumerate(frozen.answers) if isinstance(each, Given)]
    if said:
        at, seen = random.choice(said)

        def instead(word: str, made: Any) -> FrozenObservation:
            listed = (*frozen.answers[:at], Given(made), *frozen.answers[at + 1 :])
            return replace(frozen, answers=listed, altered=word)

        every = (instead(word, made) for word, made in altered(seen, random))
        yield from islice(judged(every, judge), answers)
        if frozen.ready is not None:
            ready = replace(frozen.ready, follows=SYSTEMS)
            others = (instead(f"{word}, everything followed", made) for word, made in altered(seen, random))
            yield from islice(judged((replace(each, ready=ready) for each in others), judge), 1)
        yield from judged((instead(word, made) for word, made in rarely(seen, random)), judge)
        touch = touching(_names(frozen.case))(seen, random)
        answered = answering(_results(frozen.case))(seen, random)
        if answered is not None:
            yield from judged(iter((instead("answered", answered),)), judge)
        if touch is not None and random.random() < TOUCHED:
            yield from judged(iter((instead("touched", touch),)), judge)

        for one in (frozen, *_numbered(frozen, random)) if terms else ():

            def permitted(made: Any, one: FrozenObservation = one) -> bool:
                return not judge.say(replace(instead("near", made), ready=one.ready)).broken

            near = (instead(*each) for each in near_misses(seen, random, permitted))
            yield from judged((replace(each, ready=one.ready) for each in near), judge)
    if frozen.ready is not None:
        others = (replace(frozen, ready=ready, altered=word) for word, ready in declared(frozen.ready, random))
        yield from islice(judged(others, judge), terms)


def _numbered(frozen: FrozenObservation, random: Random) -> Iterator[FrozenObservation]:
    """Yield the same answers from somebody who declares other numbers."""
    if frozen.ready is not None:
        others = (
            ready for _, ready in declared(frozen.ready, random) if ready.number_model != frozen.ready.number_model
        )
        yield from (replace(frozen, ready=ready) for ready in islice(others, 1))


TOUCHED = 0.2
"""Of how many answers one is made with an input that was changed."""


def other_answers(frozen: FrozenObservation, count: int) -> Iterator[FrozenObservation]:
    """Yield so many neighbours of answers that are schedules: one field, list or word of one of them changed."""
    random = Random(f"{frozen.by} {frozen.name}")  # noqa: S311 - as above
    judge = Judge(*map(import_module, NEEDED))
    scheduled = [at for at, each in enumerate(frozen.answers) if isinstance(each, Given) and each.seen.schedule]

    def made() -> Iterator[FrozenObservation]:
        for at in random.choices(scheduled, k=4 * count) if scheduled else ():
            given = frozen.answers[at]
            assert isinstance(given, Given)
            found = otherwise(given.seen.schedule, random)
            if found is not None and found[1] != given.seen.schedule:
                other = Given(replace(given.seen, schedule=found[1]))
                listed = (*frozen.answers[:at], other, *frozen.answers[at + 1 :])
                yield replace(frozen, answers=listed, altered=f"{'another' if at else 'first'}: {found[0]}")

    yield from islice(judged(made(), judge), count)


def other_schedules(frozen: FrozenObservation, count: int) -> Iterator[FrozenObservation]:
    """Yield neighbours of a schedule: those that say or do less or more, and so many with one field or word changed."""
    random = Random(f"{frozen.by} {frozen.name}")  # noqa: S311 - as above
    judge = Judge(*map(import_module, NEEDED))

    def made() -> Iterator[FrozenObservation]:
        for _ in range(4 * count):
            at = random.randrange(len(frozen.schedules))
            found = otherwise(frozen.schedules[at], random)
            if found is not None and found[1] != frozen.schedules[at]:
                others = (*frozen.schedules[:at], found[1], *frozen.schedules[at + 1 :])
                yield replace(frozen, schedules=others, altered=found[0])

    first, *rest = frozen.schedules
    less = (replace(frozen, schedules=(other, *rest), altered=word) for word, other in untold(first, random))
    yield from judged(less, judge)
    others = [replace(frozen, schedules=(other, *rest), altered=word) for word, other in more(first, random)]
    random.shuffle(others)
    yield from islice(judged(iter(others), judge), count)
    yield from islice(judged(made(), judge), count)


def every_neighbour(frozen: FrozenObservation, count: int) -> Iterator[FrozenObservation]:
    """Yield some ``count`` neighbours of an observation of whatever kind."""
    if frozen.schedules:
        return other_schedules(frozen, count)
    if any(isinstance(each, Given) and each.seen.schedule for each in frozen.answers):
        return other_answers(frozen, count)
    return neighbours(frozen, count, 1)


def judged(made: Iterator[FrozenObservation], judge: Judge) -> Iterator[FrozenObservation]:
    """Leave out what no judge is ever given: what is malformed is refused where it is read."""
    for each in made:
        with suppress(Exception):
            judge.say(each)
            yield each


def _names(case: Any) -> tuple[str, ...]:
    """Return the names of what a case begins with."""
    return tuple(sorted({**getattr(case, "inputs", {}), **getattr(case, "buffers", {})}))


def _results(case: Any) -> tuple[str, ...]:
    """Return the names of what a case asks for, none where that is a schedule."""
    if isinstance(case, TypedCase):
        return tuple(sorted(case.answered))
    if isinstance(case, GraphCase):
        return keys(case)
    return case.program.results if isinstance(case, Case) else case.results if isinstance(case, ShardedCase) else ()
