"""Frozen observations, made of cases of the deck once, and kept on disk piece by piece."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import conformance
from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.schedule_error import ScheduleError
from conformance.judging.schedules.program_graph import with_graph
from conformance.qualification.auto.running.answers import told
from conformance.qualification.auto.running.pool import At, Ended, in_children
from conformance.qualification.changed_methods import operations_of
from conformance.qualification.deck.candidate import CampaignError, keep, kept
from conformance.qualification.drawn_cases import folder
from conformance.qualification.frozen.asked import Asked, answers, backend, wrong
from conformance.qualification.frozen.observation import Frozen
from conformance.qualification.legal_schedules.engine import Scheduler
from conformance.qualification.mutant_module import MutantError
from conformance.qualification.mutants import mutants
from conformance.qualification.schedule_mutants import schedule_mutants
from conformance.qualification.variants import variants
from conformance.qualification.violations import violations
from conformance.runner.dialect import Trial
from conformance.runner.dialects import trial
from conformance.runner.worker.in_process import InProcess
from conformance.specs.schedules import PAIRS
from conformance.vectors.deck import Frozen as DeckCase
from conformance.vectors.deck import deck
from conformance.vectors.power import FILE, read_kills

OF_EACH: Final = 6
"""Cases of the deck that each mutant is asked about, of those that it is known to fail."""

TRIED: Final = 160
SHOWN: Final = 16
"""Cases that each right variant is tried on, and how many of those are kept on which it answers otherwise."""

SCHEDULED: Final = 6
"""Schedules of each engine, right or wrong, that are kept."""

PIECE: Final = 250
"""Cases of the reference, or mutants, of one piece."""

OF: Final = (
    *("backends/reference", "reference", "cases", "vectors", "qualification/auto/conditional"),
    *(f"qualification/{kind}mutants" for kind in ("", "graph_", "sharded_", "typed_", "schedule_")),
    *("qualification/variants", "qualification/legal_schedules"),
)
"""What observations are made by: where nothing of it changed, those that are on disk are taken."""


@dataclass(frozen=True)
class Piece:
    """A piece of the observations: who answers, and which part of them."""

    kind: Literal["reference", "mutants", "variants", "engines"]
    start: int
    stop: int

    @property
    def name(self) -> str:
        """Return the name of its file."""
        return f"{self.kind}-{self.start}-{self.stop}"


def frozen_observations(tell: Callable[[str], None], *, jobs: int = 0) -> tuple[Frozen, ...]:
    """Return all frozen observations, made where they are not on disk; raise ``MutantError`` where a file is cut."""
    where = folder().parent / f"observations-{_digest()}"
    pieces = tuple(_pieces())
    left = [piece for piece in pieces if not (where / f"{piece.name}.zlib").exists()]
    if left:
        tell(f"judge: asking for observations, {len(left)} pieces")
    for piece, made in in_children(left, _made, jobs=jobs, cpu=MAKING):
        if isinstance(made, Ended):
            raise MutantError(f"the piece {piece.name} of the observations {made.how}; make them again")
        keep(where / f"{piece.name}.zlib", made)
    found: list[Frozen] = []
    for piece in pieces:
        try:
            found += kept(where / f"{piece.name}.zlib", list[Frozen])
        except CampaignError as error:
            raise MutantError(f"observations: {error}") from error
    return (*found, *_violations())


MAKING: Final = 300.0
"""Seconds of the processor that one answer may take; mutants that hang are ended by their own limits."""


def _pieces() -> Iterator[Piece]:
    for kind, count, size in (
        ("reference", len(_cases()), PIECE),
        ("mutants", len(_dying()), PIECE // 2),
        ("variants", len(_right()), 10),
        ("engines", len(_engines()), 6),
    ):
        for start in range(0, count, size):
            yield Piece(kind, start, min(start + size, count))  # type: ignore[arg-type]  # one of the words


def _digest() -> str:
    """Return what tells the observations of this version from others."""
    root, total = Path(conformance.__file__).parent, hashlib.sha256()
    for part in OF:
        for path in sorted(path for path in (root / part).rglob("*") if path.suffix in (".py", ".gz")):
            total.update(path.read_bytes())
    return total.hexdigest()[:16]


@cache
def _cases() -> tuple[DeckCase, ...]:
    return tuple(each for each in deck().cases if each.family != "schedules")


@cache
def _scheduled() -> tuple[DeckCase, ...]:
    return tuple(each for each in deck().cases if each.family == "schedules")


@cache
def _dying() -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return the mutants with the numbers of cases that they fail, spread over all that are known."""
    known = wrong()
    found = []
    for each in read_kills(FILE).mutants:
        step = max(1, len(each.kills) // OF_EACH)
        if each.name in known and each.kills:
            found.append((each.name, tuple(each.kills[::step][:OF_EACH])))
    return tuple(found)


@cache
def _right() -> tuple[type[Backend], ...]:
    return tuple(each for each in variants() if each.schedule is Backend.schedule)


@cache
def _engines() -> tuple[tuple[type[Backend], bool], ...]:
    right = [each for each in variants() if each.schedule is not Backend.schedule]
    return ((Scheduler, True), *((each, True) for each in right), *((each, False) for each in schedule_mutants()))


def _made(piece: Piece, at: At) -> list[Frozen]:
    part = slice(piece.start, piece.stop)
    made: dict[str, Callable[[], Iterator[Frozen]]] = {
        "reference": lambda: _of_reference(_cases()[part], at),
        "mutants": lambda: _of_mutants(_dying()[part], at),
        "variants": lambda: _of_variants(_right()[part], at),
        "engines": lambda: _of_engines(_engines()[part], at),
    }
    return list(made[piece.kind]())


def _of_reference(cases: Sequence[DeckCase], at: At) -> Iterator[Frozen]:
    asked = backend(Reference)
    for number, each in enumerate(cases):
        at.come_to(number)
        one = _trial(each)
        found = None if one is None else _frozen(each, one, asked, "Reference", right=True)
        if found is not None:
            yield found


def _of_mutants(dying: Sequence[tuple[str, tuple[int, ...]]], at: At) -> Iterator[Frozen]:
    cases = deck().cases
    for name, numbers in dying:
        for number in numbers:
            at.come_to(number)
            one = _trial(cases[number])
            found = None if one is None else _frozen(cases[number], one, wrong()[name](), name, right=False)
            if found is not None:
                yield found


def _of_variants(right: Sequence[type[Backend]], at: At) -> Iterator[Frozen]:
    plain = InProcess(BackendSpec("reference", ()), backend=Reference())
    for variant in right:
        ops = _operations(variant)
        mine = [each for each in _cases() if _family(variant) == each.family and (not ops or each.op in ops)]
        step, shown = max(1, len(mine) // TRIED), 0
        for number, each in enumerate(mine[::step]):
            at.come_to(number)
            one = _trial(each)
            if one is None or shown >= SHOWN:
                continue
            asked = backend(variant)
            differs = told(asked.ask(one.case)) != told(plain.ask(one.case))
            found = _frozen(each, one, asked, variant.__qualname__, right=True) if differs else None
            shown += found is not None
            if found is not None:
                yield found


def _of_engines(engines: Sequence[tuple[type[Backend], bool]], at: At) -> Iterator[Frozen]:
    """Yield schedules that are not the plain ones; of the plain engine all that a case asks for."""
    for engine, right in engines:
        count = 0
        for number, each in enumerate(_scheduled()):
            at.come_to(number)
            one = _trial(each)
            if one is None or count >= SCHEDULED:
                continue
            if engine is Scheduler:
                found = _frozen(each, one, backend(engine), engine.__qualname__, right=True)
            else:
                found = _other_schedule(engine, each, one, right=right)
            count += found is not None
            if found is not None:
                yield found


def _other_schedule(engine: type[Backend], each: DeckCase, one: Trial, *, right: bool) -> Frozen | None:
    """Return the schedule that an engine makes otherwise than the plain one, if it does."""
    made: list[Schedule] = []
    for asked in (engine, Scheduler):
        try:
            made.append(asked().schedule(one.case.of))
        except Exception:  # noqa: BLE001 - whoever refuses or fails has no schedule
            return None
    if repr(made[0]) == repr(made[1]):
        return None
    try:
        whole = with_graph(made[0], one.subject.graph)
    except ScheduleError:
        return None
    return Frozen(
        name=each.name, by=engine.__qualname__, right=right, suite=each.suite, op=each.op, schedules=(whole,)
    )  # fmt: skip


def _trial(each: DeckCase) -> Trial | None:
    return trial(each.case, each.suite, each.name)


def _frozen(each: DeckCase, one: Trial, asked: Asked, by: str, *, right: bool) -> Frozen | None:
    found = answers(one, asked)
    if not found:
        return None
    return Frozen(
        name=each.name, by=by, right=right, suite=each.suite, op=each.op, form=each.form, text=bytes(each.text),
        ready=asked.ready, answers=found,
    )  # fmt: skip


def _family(variant: type[Backend]) -> str:
    kind = str(getattr(variant, "kind", ""))
    if kind == "tensors":
        return "graphs" if variant.run_graph is not Reference.run_graph else "sharding"
    return "types" if kind in ("types", "transforms") else "collectives"


def _operations(variant: type[Backend]) -> frozenset[str]:
    """Return the operations that a variant of collectives changes; none stands for all."""
    if _family(variant) != "collectives":
        return frozenset()
    with suppress(MutantError):
        return frozenset(operations_of(variant, mutants()))
    return frozenset()


def _violations() -> Iterator[Frozen]:
    relations: Mapping[str, Any] = {clause.id: clause.relation for clause in PAIRS}
    for each in violations():
        made = each.make()
        several = made if isinstance(made, tuple) else (made,)
        yield Frozen(
            name=each.name, by=inspect.getmodule(each.make).__name__, right=False, suite="schedules", op="schedule",  # type: ignore[union-attr]  # a function has a module
            schedules=several, relation=relations[each.breaks] if len(several) > 1 else None,
        )  # fmt: skip
