"""The suite itself, judged: backends that are broken on purpose must fail, each by the clause it was made to break."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import msgspec

from conformance.backends.base import Backend
from conformance.qualification.asking import Control
from conformance.qualification.auto.outcome import Auto
from conformance.qualification.changed_methods import PROGRAMS, dialects_of, operations_of, unchanged
from conformance.qualification.drawn_cases import drawn_cases
from conformance.qualification.judged_mutant import judged_mutant
from conformance.qualification.judged_violations import judged_violations
from conformance.qualification.kill import Mutant, unjudged
from conformance.qualification.mutant_module import MutantError, NotReached
from conformance.qualification.mutants.corpus import Report
from conformance.qualification.other_cases import AnyDrawn, other_cases
from conformance.qualification.qualify_variants import Variant
from conformance.qualification.violations import Violation
from conformance.runner.dialect import Trial
from conformance.runner.dialects import dialects, further_clauses, operations, trial
from conformance.specs import OPS, SUITES, every_clause


class Qualification(msgspec.Struct, frozen=True, kw_only=True):
    """The kill matrix. ``survivors`` are the names of mutants not killed, ``problems`` of those that were not judged.

    Those of the ``problems`` that no case reached are ``not_reached``: holes of the domain, not mistakes of mutants.
    ``uncovered`` are public reports that no mutant stands for, where the suite's own mutants were judged, and
    ``fallen_motifs`` says which motifs stand for no bug any more.
    """

    mutants: tuple[Mutant, ...]
    variants: tuple[Variant, ...] = ()
    auto: Auto | None = None
    survivors: tuple[str, ...]
    problems: tuple[str, ...] = ()
    not_reached: tuple[str, ...] = ()
    uncovered: tuple[Report, ...] = ()
    fallen_motifs: tuple[str, ...] = ()
    seed: int
    examples: int


def qualify(
    mutants: Sequence[type[Backend]],
    *,
    examples: int = 300,
    seed: int = 0,
    suites: Sequence[str] = tuple(SUITES),
    ops: Sequence[str] = tuple(OPS),
    in_process: bool = True,
    violated: Sequence[Violation] = (),
    known: Sequence[Mutant] = (),
    watch: Callable[[Mutant], None] = lambda mutant: None,
) -> Qualification:
    """Judge every mutant on ``examples`` drawn cases of each operation it changes, and return what was seen.

    A mutant sees cases in the order of their digests, large ones last, operations in turn where it changes several,
    until it failed a *must* or *should* clause and broke the clause it was made for. ``watch`` sees each result as it
    is known. With ``in_process`` false each mutant runs in a process of its own, like any backend that is certified. A
    mutant that has a ``schedule`` of its own is judged by that, and each schedule that is ``violated`` is a row too.

    A mutant that no case reaches, that cannot start or that is to break an unknown clause has a row that says so. The
    class that works and that it derives from is run on the cases that it saw: where that fails, no failure of its
    mutants means anything from there on. Rows that are ``known`` already are taken over. Raise ``MutantError`` when
    there is no mutant.
    """
    if not mutants:
        raise MutantError("there are no mutants to judge the suite by")
    had = {row.name: row for row in known}
    left = [mutant for mutant in mutants if mutant.__qualname__ not in had]
    violations = [each for each in violated if each.name not in had]
    results = list(had.values())
    cases = _Cases(examples, seed, suites, ops)
    for result in chain(judged_violations(violations), _judged_all(left, mutants, cases, in_process=in_process)):
        results.append(result)
        watch(result)
    return Qualification(
        mutants=tuple(results),
        survivors=tuple(result.name for result in results if not result.killed and not result.problem),
        problems=tuple(result.name for result in results if result.problem),
        not_reached=tuple(result.name for result in results if not result.reached),
        seed=seed,
        examples=examples,
    )


class _Cases:
    """The drawn cases of each operation, with their meaning, both made when they are first asked for."""

    def __init__(self, examples: int, seed: int, suites: Sequence[str], ops: Sequence[str]) -> None:
        self._examples, self._seed, self._suites, self._ops = examples, seed, tuple(suites), tuple(ops)
        self._drawn: dict[str, list[AnyDrawn]] = {}
        self._known: dict[str, Trial | None] = {}

    def of_all(self, ops: Sequence[str]) -> Iterator[Trial]:
        """Yield the cases of several operations, one of each in turn."""
        for at in range(max((len(self._of(op)) for op in ops), default=0)):
            for op in ops:
                one = self._trial(op, at) if at < len(self._of(op)) else None
                if one is not None:
                    yield one

    def among(self, ops: Sequence[str], dialect: str) -> tuple[str, ...]:
        """Return those of some operations that are asked about; all, where none of their dialect are named."""
        named = any(op in self._ops for op in dialects()[dialect].ops)
        return tuple(op for op in ops if op in self._ops or not named)

    def _of(self, op: str) -> list[AnyDrawn]:
        """Return the distinct cases of an operation, of all suites, in the order of their digests.

        As they are drawn the simplest come first, which of many domains show nothing: the median mutant then saw 58
        cases before it failed, and 20 in an order that has nothing to do with it (seed 0). The large ones are last:
        each takes a hundred times as long, and all mutants took 151 s of a processor with them in between, 99 s so.
        """
        if op not in self._drawn:
            dialect = operations()[op]
            suites = tuple(suite for suite in self._suites if suite in dialect.suites) or tuple(dialect.suites)
            draw = drawn_cases if dialect.name == PROGRAMS else other_cases
            drawn: Sequence[AnyDrawn] = draw(self._seed, self._examples, suites, (op,))
            self._drawn[op] = sorted(drawn, key=lambda each: (each.large, each.name))
        return self._drawn[op]

    def _trial(self, op: str, at: int) -> Trial | None:
        each = self._drawn[op][at]
        if each.large:  # kept, the large ones would take gigabytes
            return trial(each.case, each.suite)
        if each.name not in self._known:
            self._known[each.name] = trial(each.case, each.suite)
        return self._known[each.name]


def _judged_all(
    mutants: Sequence[type[Backend]], every: Sequence[type[Backend]], cases: _Cases, *, in_process: bool
) -> Iterator[Mutant]:
    controls: dict[type[Backend], Control] = {}
    for mutant in mutants:
        try:
            (dialect, *_) = dialects_of(mutant)
            base = unchanged(mutant, dialect, every)
            control = controls[base] = controls.get(base) or _started(base)
            ops = cases.among(_changed(mutant, every, dialect), dialect)
            yield judged_mutant(mutant, cases.of_all(ops), control, in_process=in_process)
        except MutantError as error:
            yield unjudged(mutant, str(error), reached=not isinstance(error, NotReached))


def _started(base: type[Backend]) -> Control:
    try:
        return Control(base)
    except Exception as error:
        name = base.__qualname__
        raise MutantError(f"the unchanged {name} does not start: {type(error).__name__}: {error}") from error


def _changed(mutant: type[Backend], every: Sequence[type[Backend]], dialect: str) -> tuple[str, ...]:
    breaks = getattr(mutant, "breaks", None)
    if breaks is not None and breaks not in {*every_clause(), *further_clauses()}:
        raise MutantError(f"mutant {mutant.__qualname__} is to break {breaks!r}, which is no clause")
    if dialect == PROGRAMS:
        return operations_of(mutant, every)
    return tuple(getattr(mutant, "ops", None) or dialects()[dialect].ops)
