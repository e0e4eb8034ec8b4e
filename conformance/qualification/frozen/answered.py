"""Answers to cases of the deck and to drawn ones: the reference's, those of mutants and of right variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from random import Random  # not for secrets: the same cases must have the same answers
from typing import Final

from msgspec.structs import replace

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.declarations.terms import SYSTEMS
from conformance.qualification.auto.running.answers import told
from conformance.qualification.auto.running.pool import At
from conformance.qualification.changed_methods import operations_of
from conformance.qualification.drawn_cases import drawn_part
from conformance.qualification.frozen.asked import Answerer, answers, backend, wrong
from conformance.qualification.frozen.followed import followed
from conformance.qualification.frozen.kind import Kind
from conformance.qualification.frozen.neighbours import neighbours
from conformance.qualification.frozen.observation import FrozenObservation
from conformance.qualification.frozen.other_inputs import of_other_inputs
from conformance.qualification.mutant_module import MutantError
from conformance.qualification.mutants import mutants
from conformance.qualification.other_cases import other_part
from conformance.qualification.variants import variants
from conformance.runner.dialect import Trial
from conformance.runner.dialects import operations, suites, trial
from conformance.runner.plan import Plan
from conformance.runner.worker.in_process import InProcess
from conformance.specs import OPS
from conformance.vectors.deck import FrozenCase as DeckCase
from conformance.vectors.deck import deck
from conformance.vectors.power import FILE, read_kills
from conformance.vectors.stored import form_of, written

OF_EACH: Final = 6
"""Cases of the deck that each mutant is asked about, of those that it is known to fail."""

FOLLOWING: Final = 2
"""Cases whose answers are kept again, of each mutant as one who follows every source."""

TRIED: Final = 160
SHOWN: Final = 16
"""Cases that each right variant is tried on, and how many of those are kept on which it answers otherwise."""

ALTERED: Final = 6
"""Altered answers of each of the reference's."""

OTHER_INPUTS: Final = 2
"""Answers of other inputs beside each of the reference's."""

DECLARED: Final = 4
"""Other declarations beside each answer of a right variant."""

FEW: Final = 5
"""Draws of each suite and operation of collectives that have neighbours; of other dialects all have some."""

DRAWN: Final = 25
"""Draws of each suite and operation that the reference answers beside the deck: which clauses speak, any case tells."""

SEED: Final = 1789
"""The seed of these draws, which no campaign of the deck and no test has."""

FOLDING: Final = ("algorithm", "number model", "completion", "left open")
CHAINED: Final = 10
"""Kinds of variants that are asked about programs of several folds too, and how many answers of each are kept."""


@cache
def _cases() -> tuple[DeckCase, ...]:
    return tuple(each for each in deck().cases if each.family != "schedules")


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
def _drawn() -> tuple[tuple[str, str], ...]:
    """Return the suites and operations that cases are drawn of beside the deck's."""
    return tuple(
        (draws.suite, op)
        for op in operations()
        for draws in Plan(ops=(op,), examples=1, suites=tuple(suites())).draws()
        if draws.suite != "schedules"
    )


@cache
def _chained() -> tuple[DeckCase, ...]:
    """Return the programs in which something is made of what was folded, or ranks have trouble."""
    programs = [each for each in _cases() if each.form == "program"]
    return tuple(
        each
        for each in programs
        if each.case.troubled or sum("op" in step.attrs for step in each.case.program.steps) > 1
    )


@cache
def _folding() -> tuple[type[Backend], ...]:
    """Return the right variants that fold or round in a way of their own."""
    return tuple(each for each in _right() if str(getattr(each, "kind", "")) in FOLDING)


def _around(made: Iterator[FrozenObservation], answers: int, terms: int) -> Iterator[FrozenObservation]:
    """Yield answers, each with so many neighbours."""
    for each in made:
        yield each
        yield from neighbours(each, answers, terms)


def _sourced(made: Iterator[FrozenObservation], few: int | None = None) -> Iterator[FrozenObservation]:
    """Yield the reference's answers with what sources answer, and all, or a ``few`` of a kind, with neighbours."""
    had: Counter[tuple[str, str]] = Counter()
    for each in made:
        yield each
        yield from followed(each)
        others = of_other_inputs(each, Random(f"inputs of {each.name}"))  # noqa: S311 - as said where it is imported
        yield from islice(others, OTHER_INPUTS)
        had[each.suite, each.op] += 1
        if few is None or each.op not in OPS or had[each.suite, each.op] <= few:
            yield from neighbours(each, ALTERED, 1)


def _of_drawn(parts: Sequence[tuple[str, str]], at: At) -> Iterator[FrozenObservation]:
    """Yield what the reference answers about the first draws of each."""
    asked = backend(Reference)
    for number, (suite, op) in enumerate(parts):
        at.come_to(number)
        draw = drawn_part if op in OPS else other_part
        for each in draw(suite, op, DRAWN, SEED):
            one = trial(each.case, suite, each.name)
            found = () if one is None else answers(one, asked)
            if found:
                yield FrozenObservation(
                    name=each.name, by="Reference", right=True, suite=suite, op=op, form=form_of(each.case),
                    text=written(each.case), ready=asked.terms, answers=found,
                )  # fmt: skip


def _of_reference(cases: Sequence[DeckCase], at: At) -> Iterator[FrozenObservation]:
    asked = backend(Reference)
    for number, each in enumerate(cases):
        at.come_to(number)
        one = _trial(each)
        found = None if one is None else _frozen(each, one, asked, "Reference", right=True)
        if found is not None:
            yield found


def _of_mutants(dying: Sequence[tuple[str, tuple[int, ...]]], at: At) -> Iterator[FrozenObservation]:
    """Yield what mutants answer about cases that they fail, the first two again as who follows every source."""
    cases = deck().cases
    for name, numbers in dying:
        for place, number in enumerate(numbers):
            at.come_to(number)
            one = _trial(cases[number])
            found = None if one is None else _frozen(cases[number], one, wrong()[name](), name, right=False)
            if found is None:
                continue
            yield found
            if place < FOLLOWING and found.ready is not None:
                everything = replace(found.ready, follows=SYSTEMS)
                yield replace(found, ready=everything, altered="everything followed")


def _of_variants(
    right: Sequence[type[Backend]], at: At, cases: Sequence[DeckCase] = (), most: int = SHOWN
) -> Iterator[FrozenObservation]:
    """Yield what right variants answer otherwise than the reference, about cases of their own operations by default."""
    plain = InProcess(BackendSpec("reference", ()), backend=Reference())
    for variant in right:
        ops = _operations(variant)
        mine = cases or [each for each in _cases() if _family(variant) == each.family and (not ops or each.op in ops)]
        step, shown = max(1, len(mine) // TRIED), 0
        for number, each in enumerate(mine[::step]):
            at.come_to(number)
            one = _trial(each)
            if one is None or shown >= most:
                continue
            asked = backend(variant)
            differs = told(asked.ask(one.case)) != told(plain.ask(one.case))
            found = _frozen(each, one, asked, variant.__qualname__, right=True) if differs else None
            shown += found is not None
            if found is not None:
                yield found


def _trial(each: DeckCase) -> Trial | None:
    return trial(each.case, each.suite, each.name)


def _frozen(each: DeckCase, one: Trial, asked: Answerer, by: str, *, right: bool) -> FrozenObservation | None:
    found = answers(one, asked)
    if not found:
        return None
    return FrozenObservation(
        name=each.name, by=by, right=right, suite=each.suite, op=each.op, form=each.form, text=bytes(each.text),
        ready=asked.terms, answers=found,
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


ANSWERED: Final[dict[str, Kind]] = {
    "reference": Kind(lambda: len(_cases()), 250, lambda part, at: _sourced(_of_reference(_cases()[part], at))),
    "mutants": Kind(lambda: len(_dying()), 125, lambda part, at: _of_mutants(_dying()[part], at)),
    "variants": Kind(
        lambda: len(_right()), 10, lambda part, at: _around(_of_variants(_right()[part], at), 2, DECLARED)
    ),
    "chained": Kind(
        lambda: len(_folding()), 10, lambda part, at: _of_variants(_folding()[part], at, _chained(), CHAINED)
    ),
    "drawn": Kind(lambda: len(_drawn()), 6, lambda part, at: _sourced(_of_drawn(_drawn()[part], at), FEW)),
}
"""What is answered, by the kind of who answers."""
