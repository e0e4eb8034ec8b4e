"""``qualify --auto``: mutants that nobody wrote, run on what the default profile draws, and what became of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from conformance.cases.schedule.question import ScheduleCase
from conformance.qualification.auto.by_tests import by_tests
from conformance.qualification.auto.corpus import FAMILIES, MOST_MUTANTS, AutoMutant, FamilyName, corpus
from conformance.qualification.auto.outcome import Auto, Row, row_of, summed
from conformance.qualification.auto.running.pool import At, in_children
from conformance.qualification.auto.running.stages import Stages
from conformance.qualification.auto.running.survey import ground
from conformance.qualification.auto.source.families import ENGINE, REFERENCE
from conformance.qualification.drawn_cases import Drawn, drawn_cases, drawn_part, undrawn
from conformance.qualification.mutant_module import MutantError
from conformance.qualification.other_cases import AnyDrawn, other_cases, other_part, undrawn_others
from conformance.runner.dialects import operations, suites
from conformance.specs import OPS, SUITES

ByObservations = Callable[[Sequence[AutoMutant], Callable[[str], None], int], tuple[str, Iterator[Row]]]
"""Gives what the unchanged judge breaks, if anything, and the rows of its mutants, with so many processes."""


@dataclass(frozen=True)
class Profile:
    """What is drawn: the seed, the examples of each operation, suites and operations."""

    seed: int
    examples: int
    suites: tuple[str, ...] = tuple(suites())
    ops: tuple[str, ...] = tuple(operations())

    @property
    def name(self) -> str:
        """Return what tells the cases apart from others on disk."""
        whole = self.suites == tuple(suites()) and self.ops == tuple(operations())
        part = hashlib.sha256("\0".join((*self.suites, *self.ops)).encode()).hexdigest()[:12]
        return f"{self.seed}-{self.examples}" + ("" if whole else f"-{part}")


def qualify_auto(
    count: int,
    profile: Profile,
    *,
    families: Sequence[FamilyName] = FAMILIES,
    code: Sequence[str] = (),
    more: int = 0,
    equivalence: bool = True,
    jobs: int = 0,
    known: Sequence[Row] = (),
    watch: Callable[[Row], None] = lambda row: None,
    tell: Callable[[str], None] = lambda line: None,
    judged: ByObservations | None = None,
) -> tuple[Auto, tuple[Row, ...]]:
    """Run ``count`` mutants of a profile's seed on its cases, and return what became of them, each and in all.

    With ``code`` only modules with one of these words in their names are changed. With ``more`` the first draws of each
    suite and operation, so many, are searched for further kills. Without ``equivalence`` survivors are not run on the
    small cases. Rows that are ``known`` are taken over. What is ``judged`` by observations is the family of the judge.
    Raise ``MutantError`` for a number of mutants that cannot be, and where unchanged code does not get through its
    cases.
    """
    if not 1 <= count <= MOST_MUTANTS:
        raise MutantError(f"--auto {count}: there are 1 to {MOST_MUTANTS} automatic mutants of one seed")
    mutants = corpus(count, profile.seed, families, code)
    had = {row.name for row in known}
    rows = [row for row in known if row.family in families]
    controls: dict[str, str] = {}
    drawn: tuple[AnyDrawn, ...] = ()
    for family in families:
        mine = [mutant for mutant in mutants if mutant.family == family]
        left = [mutant for mutant in mine if mutant.name not in had]
        if left and not drawn and family not in ("runner", "judge"):
            tell("drawing")
            drawn = in_order(_drawn(profile, jobs))
        if mine:
            controls[family] = "passed"
        if left and family == "runner":
            tell(f"{family}: each mutant by the tests of the suite")
            for row in by_tests(left, jobs=jobs):
                rows.append(row)
                watch(row)
        elif left and family == "judge":
            if judged is None:
                raise MutantError("--family judge: its mutants are judged by observations, and there are none here")
            control, found = judged(left, tell, jobs)
            for row in found:
                rows.append(row)
                watch(row)
            controls[family] = control or "passed"
        elif left:
            tell(f"{family}: the unchanged code")
            stages = _stages(family, drawn, profile, more=more, jobs=jobs)
            for row in _family(left, stages, equivalence=equivalence):
                rows.append(row)
                watch(row)
            controls[family] = stages.control or "passed"
    return summed(rows, profile.seed, profile.examples, controls), tuple(rows)


def _drawn(profile: Profile, jobs: int) -> tuple[AnyDrawn, ...]:
    collectives = [op for op in profile.ops if op in OPS]
    programs = [suite for suite in profile.suites if suite in SUITES]

    def draw(task: tuple[Callable[..., object], tuple[str, str]], _: At) -> None:
        drawer, part = task
        drawer(*part, profile.examples, profile.seed)

    # What a process draws it leaves on disk; what one that ended left undone is drawn below.
    left = [
        *((drawn_part, part) for part in undrawn(profile.seed, profile.examples, programs, collectives)),
        *((other_part, part) for part in undrawn_others(profile.seed, profile.examples, profile.suites, profile.ops)),
    ]
    for _ in in_children(left, draw, jobs=jobs, cpu=DRAWING):
        pass
    return (
        *drawn_cases(profile.seed, profile.examples, programs, collectives),
        *other_cases(profile.seed, profile.examples, profile.suites, profile.ops),
    )


DRAWING: Final = 600.0
"""Seconds of the processor that drawing one suite and operation may take; 300 of the slowest take some three."""


def in_order(drawn: Sequence[AnyDrawn]) -> tuple[AnyDrawn, ...]:
    """Return cases in the order in which mutants see them: as they are drawn, but the large ones at the end.

    One of those takes as long as fifty others.
    """
    return tuple(sorted(drawn, key=lambda each: (each.large, each.index)))


EARLY: Final = 4
"""Draws of every suite and operation on collectives that the engine is surveyed on: some 350 of 15,000 cases. On most
machines their kernels were never built, and to build those of a case takes 300 ms of the processor, to run it 12."""

EARLY_OTHERS: Final = 10
"""Draws of every operation of the other dialects that the engine is surveyed on."""


def _stages(family: FamilyName, drawn: tuple[AnyDrawn, ...], profile: Profile, *, more: int, jobs: int) -> Stages:
    # The reference makes no schedules.
    run = tuple(each for each in drawn if not isinstance(each.case, ScheduleCase))
    known = ground(REFERENCE, run, profile.name, words=True, jobs=jobs)
    if family != "engine":
        return Stages(known, more=more, jobs=jobs)
    first = tuple(each for each in drawn if _early(each))
    rest = tuple(each for each in drawn if not _early(each))
    base = ground(ENGINE, first, f"{profile.name}-{EARLY}-{EARLY_OTHERS}", jobs=jobs)
    return Stages(base, rest, known.survey.answers, more=more, jobs=jobs)


def _early(each: AnyDrawn) -> bool:
    return not each.large and each.index < (EARLY if isinstance(each, Drawn) else EARLY_OTHERS)


def _family(mutants: Sequence[AutoMutant], stages: Stages, *, equivalence: bool) -> Iterator[Row]:
    for mutant in mutants:
        if mutant.void is not None:
            yield row_of(mutant, "void", reason=mutant.void)
    yield from stages.rows([mutant for mutant in mutants if mutant.void is None], equivalence=equivalence)
