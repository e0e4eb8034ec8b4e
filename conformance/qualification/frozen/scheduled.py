"""Schedules of engines that are right and wrong, what they might be instead, and those that break a rule."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

import msgspec

from conformance.backends.base import Backend
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.schedule_error import ScheduleError
from conformance.judging.schedules.program_graph import with_graph
from conformance.qualification.auto.running.pool import At
from conformance.qualification.frozen.asked import answers, backend
from conformance.qualification.frozen.kind import Kind
from conformance.qualification.frozen.neighbours import other_answers, other_schedules
from conformance.qualification.frozen.observation import FrozenObservation
from conformance.qualification.legal_schedules.by_hand import by_hand
from conformance.qualification.legal_schedules.engine import Scheduler
from conformance.qualification.other_cases import other_part
from conformance.qualification.schedule_mutants import schedule_mutants
from conformance.qualification.variants import variants
from conformance.qualification.violations import violations
from conformance.runner.dialect import Trial
from conformance.runner.dialects import trial
from conformance.specs.schedules import PAIRS
from conformance.vectors.deck import FrozenCase as DeckCase
from conformance.vectors.deck import deck
from conformance.vectors.stored import form_of, written

KEPT: Final = 6
"""Schedules of each engine, right or wrong, that are kept."""

ALTERED: Final = 8
"""Altered schedules of each of an engine's, and of each that breaks a rule."""


DRAWN: Final = 120
"""Draws of programs and of graphs that are scheduled beside the deck's."""

SEED: Final = 1789
"""The seed of these draws, which no campaign of the deck and no test has."""

OPERATIONS: Final = ("schedule_of_graph", "schedule_of_program")


@cache
def _scheduled() -> tuple[DeckCase, ...]:
    return tuple(each for each in deck().cases if each.family == "schedules")


@cache
def _engines() -> tuple[tuple[type[Backend], bool], ...]:
    right = [each for each in variants() if each.schedule is not Backend.schedule]
    return ((Scheduler, True), *((each, True) for each in right), *((each, False) for each in schedule_mutants()))


@cache
def _trial(number: int) -> Trial | None:
    each = _scheduled()[number]
    return trial(each.case, each.suite, each.name)


@cache
def _plain(number: int) -> str:
    """Return the plain engine's schedule of a case, as text; no word where it has none."""
    one = _trial(number)
    made = None if one is None else _made(Scheduler, one)
    return "" if made is None else repr(made)


def _made(engine: type[Backend], one: Trial) -> Schedule | None:
    try:
        return engine().schedule(one.case.of)
    except Exception:  # noqa: BLE001 - whoever refuses or fails has no schedule
        return None


def _of_engines(engines: Sequence[tuple[type[Backend], bool]], at: At) -> Iterator[FrozenObservation]:
    """Yield schedules that are not the plain ones; of the plain engine all that a case asks for."""
    for engine, right in engines:
        count = 0
        for number, each in enumerate(_scheduled()):
            at.come_to(number)
            one = _trial(number)
            if one is None or (count >= KEPT and engine is not Scheduler):
                continue
            if engine is Scheduler:
                found = _asked(each, one, engine)
            else:
                found = _other_schedule(engine, number, one, right=right)
            count += found is not None
            if found is not None:
                yield found


def _asked(each: DeckCase, one: Trial, engine: type[Backend]) -> FrozenObservation | None:
    """Return all that an engine answers about a case."""
    asked = backend(engine)
    found = answers(one, asked)
    if not found:
        return None
    return FrozenObservation(
        name=each.name, by=engine.__qualname__, right=True, suite=each.suite, op=each.op, form=each.form,
        text=bytes(each.text), ready=asked.terms, answers=found,
    )  # fmt: skip


def _other_schedule(engine: type[Backend], number: int, one: Trial, *, right: bool) -> FrozenObservation | None:
    """Return the schedule that an engine makes otherwise than the plain one, if it does."""
    each, plain = _scheduled()[number], _plain(number)
    made = _made(engine, one) if plain else None
    if made is None or repr(made) == plain:
        return None
    try:
        whole = with_graph(made, one.subject.graph)
        msgspec.json.decode(msgspec.json.encode(whole), type=Schedule)
    except (ScheduleError, msgspec.ValidationError):
        return None  # what is no schedule is refused where it is read
    return FrozenObservation(
        name=each.name, by=engine.__qualname__, right=right, suite=each.suite, op=each.op, schedules=(whole,)
    )  # fmt: skip


def _of_drawn(ops: Sequence[str], at: At) -> Iterator[FrozenObservation]:
    """Yield what the plain engine answers about the first draws, its schedules, and what they might be instead."""
    asked = backend(Scheduler)
    for op in ops:
        for number, each in enumerate(other_part("schedules", op, DRAWN, SEED)):
            at.come_to(number)
            one = trial(each.case, "schedules", each.name)
            found = () if one is None else answers(one, asked)
            if not found:
                continue
            made = FrozenObservation(
                name=each.name, by="Scheduler", right=True, suite="schedules", op=op, form=form_of(each.case),
                text=written(each.case), ready=asked.terms, answers=found,
            )  # fmt: skip
            yield made
            yield from other_answers(made, ALTERED)


def _altered(made: Iterator[FrozenObservation]) -> Iterator[FrozenObservation]:
    """Yield schedules, each with its neighbours."""
    for each in made:
        yield each
        if each.schedules:
            yield from other_schedules(each, ALTERED)


def _of_violations() -> Iterator[FrozenObservation]:
    """Yield the schedules that were written to break a rule."""
    relations: Mapping[str, Any] = {clause.id: clause.relation for clause in PAIRS}
    for each in violations():
        made = each.make()
        several = made if isinstance(made, tuple) else (made,)
        yield FrozenObservation(
            name=each.name, by=inspect.getmodule(each.make).__name__, right=False, suite="schedules", op="schedule",  # type: ignore[union-attr]  # a function has a module
            schedules=several, relation=relations[each.breaks] if len(several) > 1 else None,
        )  # fmt: skip


def _of_hands() -> Iterator[FrozenObservation]:
    """Yield the right schedules that were written."""
    for name, made in by_hand():
        yield FrozenObservation(
            name=name, by="by_hand", right=True, suite="schedules", op="schedule", schedules=(made,)
        )


SCHEDULED: Final[dict[str, Kind]] = {
    "engines": Kind(lambda: len(_engines()), 6, lambda part, at: _altered(_of_engines(_engines()[part], at))),
    "violated": Kind(lambda: 1, 1, lambda part, at: _altered(_of_violations())),
    "drawn schedules": Kind(lambda: len(OPERATIONS), 1, lambda part, at: _of_drawn(OPERATIONS[part], at)),
    "by hand": Kind(lambda: 1, 1, lambda part, at: _altered(_of_hands())),
}
"""What engines make, by the kind of schedules."""
