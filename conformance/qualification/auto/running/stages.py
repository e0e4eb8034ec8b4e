"""The stages that a mutant goes through: a short run, where most die; the small cases; and all that is left.

A survivor of the short run is held against the unchanged code on all small cases of one collective, for it may do the
same. What is not told apart there gets a few seconds more, and what is all the other cases that come to it.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from conformance.backends.base import Backend
from conformance.cases.schedule.question import ScheduleCase
from conformance.generate.small_calls import DRAWN_SMALL
from conformance.qualification.auto.conditional.faulty_collectives import Fault, Faulty
from conformance.qualification.auto.conditional.faulty_values import FaultyValues
from conformance.qualification.auto.corpus import AutoMutant
from conformance.qualification.auto.equivalent_survivors import read_reasons
from conformance.qualification.auto.outcome import Row, row_of
from conformance.qualification.auto.running.differences import Kill, Seen, Unchanged, Work, judged, told_apart
from conformance.qualification.auto.running.pool import At, Ended, in_children
from conformance.qualification.auto.running.small_cases import small_cases
from conformance.qualification.auto.running.survey import Ground, ground
from conformance.qualification.auto.source.changes import Change
from conformance.qualification.auto.source.families import ENGINE, REFERENCE
from conformance.qualification.auto.source.shadow import Family, changed_backend
from conformance.qualification.drawn_cases import Drawn, drawn_cases
from conformance.qualification.kept import kept
from conformance.qualification.other_cases import AnyDrawn, OtherCase, other_cases
from conformance.runner.dialects import operations, suites
from conformance.specs import SUITES


@dataclass(frozen=True)
class Limits:
    """Seconds of the processor: ``first`` for the short run, ``small`` for small cases, ``rest`` for what is left.

    What no case came to yet gets ``unreached`` instead of ``rest``, and what no small case told apart ``first`` once
    more. Of each operation of other dialects
    ``others`` draws are among the small cases.
    """

    first: float
    small: float
    rest: float
    unreached: float
    others: int


LIMITS: Final = {
    # A case takes some 0.7 ms, so that all but a hundred long ones are run in 7 s; there are 60,000 small ones.
    REFERENCE.name: Limits(first=2.0, small=60.0, rest=30.0, unreached=30.0, others=100),
    # A drawn case takes some 12 ms, and 300 ms where its kernels were never built, as those of other dialects. All
    # small ones on collectives take 43 s, with kernels or without. 11,000 of 16,000 cases were planned in 90 s.
    ENGINE.name: Limits(first=8.0, small=180.0, rest=60.0, unreached=150.0, others=50),
}
"""Measured on one core of two, CPython 3.11 and PoCL."""


UNSEEN: Final = Seen(applied=False)


@dataclass(frozen=True)
class Task:
    """A mutant before a stage: the cases that are to be run, and what was ``seen`` of it by then.

    ``small`` is there where it does as the unchanged code on all small cases that were run; ``tried`` are the cases in
    which its process ended in this stage. Those that are left are run whatever their plans come to where it is
    ``unplanned``.
    """

    mutant: AutoMutant
    stage: Literal["first", "small", "rest"]
    cases: Sequence[int]
    seconds: float
    seen: Seen = UNSEEN
    small: Seen | None = None
    tried: tuple[int, ...] = ()
    unplanned: bool = False

    @property
    def same_on_small(self) -> bool:
        """Return whether all small cases were run, and neither they nor those before showed another value."""
        return self.small is not None and not self.small.cut and not self.seen.values

    @property
    def same(self) -> bool:
        """Return whether no schedule was another either."""
        return self.same_on_small and not self.seen.differs


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
        self._kinds = Counter((each.suite, each.op) for each in base.drawn)
        self._more, self._jobs = more, jobs
        self._family: Family = base.family
        self._limits = LIMITS[base.family.name]
        self._known: dict[str, Sequence[int]] = {}
        self._unchanged = Unchanged(base.family.backend)
        self.control = ""

    def reach(self, mutant: AutoMutant) -> int:
        """Return how many of the surveyed cases come to a mutant's change or meet its condition."""
        return len(self._cases(mutant))

    def rows(self, mutants: Sequence[AutoMutant], *, equivalence: bool) -> Iterator[Row]:
        """Yield the row of each mutant, as it ends; no stage waits for other mutants to end theirs.

        Without ``equivalence`` survivors are not run on the small cases.
        """
        waiting = deque[Task]()
        for mutant in mutants:
            task = Task(mutant, "first", self._cases(mutant), self._limits.first)
            came = task if task.cases else self._rest(task)
            if isinstance(came, Row):
                yield came
            else:
                waiting.append(came)
        for task, made in self._children(waiting, self._do):
            came = self._after(task, made, equivalence=equivalence)
            if isinstance(came, Row):
                yield came
            else:
                waiting.appendleft(came)

    def _do(self, task: Task, at: At) -> Seen:
        """Run a stage of a mutant."""
        mutant = task.mutant
        if task.stage != "small":
            more = self._more if task.stage == "first" else 0
            work = Work(lambda: self._made(mutant), task.cases, task.seconds, more, self._planned(task))
            return judged(work, self._drawn, self._right, at, self._unchanged)
        if isinstance(mutant.made, Fault):  # its condition is forced true
            mutant = AutoMutant(mutant.family, mutant.made.always)
        work = Work(lambda: self._made(mutant), task.cases, task.seconds)
        return told_apart(work, self._small.drawn, self._small.survey.answers, at, self._unchanged)

    def _planned(self, task: Task) -> bool:
        """Return whether plans of cases tell which of them come to a change: not where all do, or as they are run."""
        change = task.mutant.made
        late = self._family.plans and task.stage == "rest" and not task.unplanned
        return late and isinstance(change, Change) and change.below and self._base.shown(change)

    def _after(self, task: Task, made: Seen | Ended, *, equivalence: bool) -> Task | Row:
        """Return what comes after a stage: another one, or the row."""
        if task.stage == "small":
            # Where only a *may* is broken no small case need show that what is done otherwise is right.
            came = isinstance(made, Seen) and (made.cases > 0 or bool(task.seen.permitted))
            alike = isinstance(made, Seen) and came and not made.differs
            return self._rest(replace(task, small=made if isinstance(made, Seen) and alike else None))
        if isinstance(made, Ended):
            again = self._again(task, made)
            if again is not None:
                return again
            blamed = made.at in task.tried[-1:] or not self._may_be_luck(made)
            made = self._ended(made) if blamed else Seen(cut=True)
        self.control = self.control or made.control
        task = replace(task, seen=task.seen.before(made), tried=())
        if not task.seen.kills and not task.seen.applied and self._planned(task):
            # It may be what is done with a plan, of which no surveyed case could tell.
            return replace(task, unplanned=True, seconds=self._limits.rest)
        if task.seen.kills or task.stage == "rest":
            return self._row(task)
        return self._small_stage(task) if equivalence else self._rest(task)

    def _small_stage(self, task: Task) -> Task:
        change, every = task.mutant.made, range(len(self._small.drawn))
        surveyed = bool(self._small.survey.lines)
        cases = self._small.reaching(change) if isinstance(change, Change) and surveyed else every
        return replace(task, stage="small", cases=cases, seconds=self._limits.small)

    def _rest(self, task: Task) -> Task | Row:
        cases = [*self._cases(task.mutant)[task.seen.cases :]]
        cases += self._likely(task.mutant.made) if isinstance(task.mutant.made, Change) else ()
        if not cases:
            return self._row(task)
        late = self._limits.rest if task.seen.applied else self._limits.unreached
        return replace(task, stage="rest", cases=cases, seconds=self._limits.first if task.same else late)

    def _likely(self, change: Change) -> Sequence[int]:
        """Return the cases that were not surveyed, first those of suites and operations that often come to a change.

        Where no surveyed case does, those that come to its module tell, or to its package.
        """
        near = self._base.reaching(change) or self._base.entering(change.module)
        found = Counter((self._drawn[number].suite, self._drawn[number].op) for number in near)

        def rarely(number: int) -> float:
            kind = self._drawn[number].suite, self._drawn[number].op
            return -found[kind] / self._kinds[kind] if found[kind] else 0.0

        return sorted(self._others, key=rarely)

    def _again(self, task: Task, ended: Ended) -> Task | None:
        """Return a task anew, with the case that its process ended in as the first, where that may not be its fault."""
        if not self._may_be_luck(ended) or ended.at in task.tried[-1:] or len(task.tried) >= AGAIN:
            return None
        cases = [ended.at, *(each for each in task.cases if each != ended.at)]
        return replace(task, cases=cases, tried=(*task.tried, ended.at))

    def _may_be_luck(self, ended: Ended) -> bool:
        """Return whether it may be the library's doing that a process ended, or waits for ever, in a case."""
        return ended.at != -1 and (ended.by_signal or self._family is ENGINE)

    def _row(self, task: Task) -> Row:
        mutant, seen, small = task.mutant, task.seen, task.small
        reach, reason = self.reach(mutant), read_reasons().get(mutant.digest, "")
        if seen.kills:
            return row_of(mutant, "killed", seen, reach=reach)
        late = "there was no time for all cases" if seen.cut else ""
        if not seen.applied:
            return row_of(mutant, "not_reached", seen, reach=reach, reason=late)
        if small is not None and task.same_on_small:
            reason = f"as the unchanged code on {small.cases} small cases"
            mays = sorted({*seen.permitted, *small.permitted})
            reason += f", but for what only {', '.join(mays)} say otherwise of" if mays else ""
            reason += "" if task.same else "; its schedules differ and break no clause"
            return row_of(mutant, "equivalent", seen, reach=reach, reason=reason, rescheduled=not task.same)
        if reason and mutant.family == "engine":
            return row_of(mutant, "equivalent", seen, reach=reach, reason=reason)
        if small is not None and small.cut:
            late = f"as the unchanged code on {small.cases} small cases, and there was no time for all"
        return row_of(mutant, "survived", seen, reach=reach, reason=late)

    @cached_property
    def _small(self) -> Ground:
        def make() -> tuple[Drawn, ...]:
            return small_cases(drawn_cases(0, 100, tuple(SUITES), DRAWN_SMALL))

        found: tuple[AnyDrawn, ...] = (*kept("small", tuple[Drawn, ...], make), *_small_others(self._limits.others))
        # Names of other dialects begin with the dialect, and their cases take longest.
        drawn = tuple(sorted(found, key=lambda each: hashlib.sha256(each.name.encode()).digest()))
        # Which cases come to its change each mutant of the engine finds out: to trace them takes longer than to run
        # them for twenty mutants.
        return ground(self._family, drawn, "small-spread", lines=self._family is not ENGINE, jobs=self._jobs)

    def _children(self, tasks: deque[Task], run: Callable[[Task, At], Seen]) -> Iterator[tuple[Task, Seen | Ended]]:
        family = self._family
        yield from in_children(tasks, run, memory=family.memory, cpu=family.cpu, jobs=self._jobs, batch=family.batch)

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


def _small_others(draws: int) -> tuple[OtherCase, ...]:
    found = other_cases(ELSEWHERE, draws, tuple(suites()), tuple(operations()))
    return tuple(each for each in found if not isinstance(each.case, ScheduleCase))
