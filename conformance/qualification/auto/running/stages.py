"""The stages that a mutant goes through: a short run, where most die; the small cases; and all that is left.

A survivor of the short run is held against the unchanged code on all small cases of one collective, for it may do the
same. What is not told apart there gets a few seconds more, and what is all the other cases that come to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from conformance.backends.base import Backend
from conformance.cases.schedule.question import ScheduleCase
from conformance.qualification.auto.conditional.faulty import Fault, Faulty
from conformance.qualification.auto.conditional.faulty_values import FaultyValues
from conformance.qualification.auto.corpus import AutoMutant
from conformance.qualification.auto.outcome import Row, row_of
from conformance.qualification.auto.read import read_reasons
from conformance.qualification.auto.running.ground import Ground, ground
from conformance.qualification.auto.running.judged import Kill, Seen, Unchanged, Work, judged, told_apart
from conformance.qualification.auto.running.pool import At, Ended, in_children
from conformance.qualification.auto.running.small import DRAWN_SMALL, small_cases
from conformance.qualification.auto.source.changes import Change
from conformance.qualification.auto.source.families import ENGINE, REFERENCE
from conformance.qualification.auto.source.shadow import Family, changed_backend
from conformance.qualification.drawn import Drawn, drawn_cases, kept
from conformance.qualification.other_cases import AnyDrawn, Other, other_cases
from conformance.runner.dialects import operations, suites
from conformance.specs import SUITES


@dataclass(frozen=True)
class Limits:
    """Seconds of the processor: ``first`` for the short run, ``small`` for small cases, ``rest`` for what is left.

    What no small case told apart gets ``first`` once more instead of ``rest``. Of small cases every ``thin``-th is run.
    """

    first: float
    small: float
    rest: float
    thin: int


LIMITS: Final = {
    # A case takes some 0.7 ms, so that all but a hundred long ones are run in 7 s; there are 44,000 small ones.
    REFERENCE.name: Limits(first=2.0, small=60.0, rest=30.0, thin=1),
    # A case takes some 8 ms.
    ENGINE.name: Limits(first=8.0, small=30.0, rest=20.0, thin=16),
}
"""Measured on one core of two, CPython 3.11 and PoCL."""


class Stages:
    """Runs the mutants of one family; ``control`` is what its unchanged code breaks on a case, if it does."""

    def __init__(
        self,
        base: Ground,
        rest: Sequence[AnyDrawn] = (),
        right: Mapping[str, str] | None = None,
        *,
        more: int,
        jobs: int,
    ) -> None:
        """Run on the cases of ``base``, and survivors on the ``rest`` too, of which ``right`` has the answers."""
        self._base, self._drawn = base, (*base.drawn, *rest)
        self._right = {**(right or {}), **base.survey.answers}
        self._others = range(len(base.drawn), len(self._drawn))
        self._more, self._jobs = more, jobs
        self._family: Family = base.family
        self._limits = LIMITS[base.family.name]
        self._known: dict[str, Sequence[int]] = {}
        self._unchanged = Unchanged(base.family.backend)
        self.control = ""

    def reach(self, mutant: AutoMutant) -> int:
        """Return how many of the surveyed cases come to a mutant's change or meet its condition."""
        return len(self._cases(mutant))

    def first(self, mutants: Sequence[AutoMutant]) -> Iterator[tuple[AutoMutant, Seen]]:
        """Yield what each mutant did in the short run."""
        for mutant in mutants:
            if not self._cases(mutant):
                yield mutant, Seen(applied=False)
        seconds, more = self._limits.first, self._more
        yield from self._run([(m, self._cases(m), seconds, more) for m in mutants if self._cases(m)])

    def survivors(self, alive: Sequence[tuple[AutoMutant, Seen]], *, equivalence: bool) -> Iterator[Row]:
        """Yield the rows of the mutants that the short run did not kill."""
        seen = {mutant.digest: (mutant, had) for mutant, had in alive}
        alike = self._alike([mutant for mutant, had in alive if self._cases(mutant)]) if equivalence else {}
        left = []
        for mutant, had in alive:
            cases = [*self._cases(mutant)[had.cases :], *(self._others if isinstance(mutant.made, Change) else ())]
            if cases:
                same = mutant.digest in alike and not had.differs
                left.append((mutant, cases, self._limits.first if same else self._limits.rest, 0))
            else:
                yield self._row(mutant, had, alike)
        for mutant, more in self._run(left):
            yield self._row(mutant, seen[mutant.digest][1].before(more), alike)

    def _row(self, mutant: AutoMutant, seen: Seen, alike: Mapping[str, Seen]) -> Row:
        reach, small = self.reach(mutant), alike.get(mutant.digest)
        reason = read_reasons().get(mutant.digest, "")
        if seen.kills:
            return row_of(mutant, "killed", seen, reach=reach)
        if not reach or not seen.applied:
            return row_of(mutant, "not_reached", seen, reach=reach)
        if small is not None and not seen.differs:
            reason = f"as the unchanged code on {small.cases} small cases"
            mays = sorted({*seen.permitted, *small.permitted})
            reason += f", but for what only {', '.join(mays)} say otherwise of" if mays else ""
            return row_of(mutant, "equivalent", seen, reach=reach, reason=reason)
        if reason and mutant.family == "engine":
            return row_of(mutant, "equivalent", seen, reach=reach, reason=reason)
        late = "there was no time for all cases" if seen.cut else ""
        return row_of(mutant, "survived", seen, reach=reach, reason=late)

    def _alike(self, mutants: Sequence[AutoMutant]) -> dict[str, Seen]:
        """Return what was seen of the mutants that do as the unchanged code on all small cases, by their digests.

        The condition of a fault is forced true.
        """
        if not mutants:
            return {}
        small = self._small

        def run(mutant: AutoMutant, at: At) -> Seen:
            made = mutant.made
            if isinstance(made, Fault):
                always = AutoMutant(mutant.family, made.always)
                work = Work(lambda: self._made(always), range(len(small.drawn)), self._limits.small)
            else:
                reached = small.reaching(made) if self._family is REFERENCE else range(len(small.drawn))
                work = Work(lambda: self._made(mutant), reached, self._limits.small)
            return told_apart(work, small.drawn, small.survey.answers, at, self._unchanged)

        return {
            mutant.digest: seen
            for mutant, seen in self._children(mutants, run)
            if isinstance(seen, Seen) and seen.cases and not seen.differs and not seen.cut
        }

    @cached_property
    def _small(self) -> Ground:
        def make() -> tuple[Drawn, ...]:
            found = small_cases(drawn_cases(0, 100, tuple(SUITES), DRAWN_SMALL))
            return tuple(sorted(found, key=lambda each: each.name))

        drawn = kept("small", tuple[Drawn, ...], make)[:: self._limits.thin]
        return ground(REFERENCE, (*drawn, *_small_others()), f"small-{self._limits.thin}", jobs=self._jobs)

    def _run(self, tasks: Sequence[tuple[AutoMutant, Sequence[int], float, int]]) -> Iterator[tuple[AutoMutant, Seen]]:
        given: dict[str, tuple[Sequence[int], float, int]] = {
            mutant.digest: (cases, seconds, more) for mutant, cases, seconds, more in tasks
        }

        def run(mutant: AutoMutant, at: At) -> Seen:
            work = Work(lambda: self._made(mutant), *given[mutant.digest])
            return judged(work, self._drawn, self._right, at, self._unchanged)

        left, first = [mutant for mutant, *_ in tasks], dict[str, list[int]]()
        while left:
            again = []
            for mutant, made in self._children(left, run):
                tried = first.setdefault(mutant.digest, [])
                if isinstance(made, Ended) and made.by_signal and made.at != -1 and made.at not in tried[-1:]:
                    # Not its fault, maybe: in a new process that case comes first.
                    cases, seconds, more = given[mutant.digest]
                    given[mutant.digest] = ([made.at, *(each for each in cases if each != made.at)], seconds, more)
                    tried.append(made.at)
                    if len(tried) <= AGAIN:
                        again.append(mutant)
                        continue
                    seen = Seen(cut=True)
                else:
                    seen = self._ended(made) if isinstance(made, Ended) else made
                self.control = self.control or seen.control
                yield mutant, seen
            left = again

    def _children(
        self, mutants: Sequence[AutoMutant], run: Callable[[AutoMutant, At], Seen]
    ) -> Iterator[tuple[AutoMutant, Seen | Ended]]:
        family = self._family
        yield from in_children(mutants, run, memory=family.memory, cpu=family.cpu, jobs=self._jobs, batch=family.batch)

    def _cases(self, mutant: AutoMutant) -> Sequence[int]:
        if mutant.digest not in self._known:
            made = mutant.made
            self._known[mutant.digest] = (
                self._base.reaching(made) if isinstance(made, Change) else list(self._base.meeting(made.condition))
            )
        return self._known[mutant.digest]

    def _made(self, mutant: AutoMutant) -> Backend:
        if isinstance(mutant.made, Change):
            return changed_backend(self._family, mutant.made)()
        if mutant.made.of_values:
            return FaultyValues(mutant.made)
        met = self._base.meeting(mutant.made.condition) if mutant.made.condition else {}
        return Faulty(mutant.made, {self._drawn[number].name: steps for number, steps in met.items()})

    def _ended(self, ended: Ended) -> Seen:
        """Return a process that ended, or hung, as a kill by its case, or by the first where it did not start."""
        each = self._drawn[max(ended.at, 0)]
        place = (each.suite, each.op, each.index) if ended.at >= 0 else ("", "", 0)
        return Seen((Kill(*place, ended.how, "must"),), 1, differs=True)


AGAIN: Final = 2
"""How often a mutant whose process the system ended begins anew, with the case it was in."""

ELSEWHERE: Final = 1_000_003
"""The seed of the cases of other dialects that equivalence is decided on: none that anybody chooses."""


def _small_others() -> tuple[Other, ...]:
    found = other_cases(ELSEWHERE, 100, tuple(suites()), tuple(operations()))
    return tuple(each for each in found if not isinstance(each.case, ScheduleCase))
