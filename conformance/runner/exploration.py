"""Behind the deck draws go on for as long as there is time: of ten draws the one is asked that adds most.

What a draw adds is what no case showed that the backend was offered in this run (``runner.shown_goals``). Which case
is asked next follows from the seed, the deck and the claims of the backend, and from no answer, so that a resumed run
chooses the same cases, and so does a run of several backends. What is owed because the deck showed nothing of it
(``Chooser.show``) follows from the answers to the deck alone, and changes no choice.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from conformance.generate.claims import Claimed
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.dialect import Trial
from conformance.runner.dialects import name_of
from conformance.runner.draws import OUTSIDE, numbered
from conformance.runner.ids import Ids
from conformance.runner.origins import Origins
from conformance.runner.plan import Draws, Plan
from conformance.runner.shown_goals import Goals, ShownGoals, graph_of

TEN: Final = 10
"""Draws that a case is chosen among. The first of them is not held to the claims, where they are limited."""

WEIGHED: Final = 2
"""Of ten draws so many are weighed by the clauses that speak, those that add most without them. To weigh all ten took
60 ms of a processor a choice, and to weigh two 39; the native backend takes 25 for a case."""

PLAIN_ONLY: Final = frozenset({"long"})
"""Suites whose draws are asked as they come: ten of 64 KiB and more take longer to draw than one to judge."""

AHEAD: Final = 64
"""Cases of one backend that are asked about and not judged, above which nothing more is drawn for it: what is under way
when the time is spent is given up, and a native worker wants two windows of 16 requests to build kernels ahead."""

SHOWING: Final = 30
"""Draws among which a legal one within the claims is looked for: of three in four operations the first is such."""

LITTLE: Final = 40
"""Choices in a row after which draws end, where no time was named, if they add fewer than ``PAIRS`` each: a backend of
two operations came to that after some 200 choices, seven seconds of a processor, and has its verdict then."""

PAIRS: Final = 2
"""Pairs that a choice should add, on average: of the first 25 of that backend each added 22."""


class ExploredRun(Protocol):
    """Where chosen cases go, and whether there is time for another."""

    def over(self) -> bool:
        """Return whether the time for drawing is spent."""

    def meaning(self, case: Any, suite: str, name: str) -> Trial | None:
        """Return a case with what it means; ``None`` for a draw that is no case."""

    def choose(self, one: Trial, origin: int, backend: BackendRun) -> None:
        """Hand over a chosen case to one backend."""

    def owe(self, one: Trial, origin: int, backend: BackendRun) -> None:
        """Hand over a case to one backend whose verdict the run waits for."""

    def free(self, backends: Sequence[BackendRun], most: int) -> BackendRun | None:
        """Return the backend that has least to do, and fewer cases than ``most``; ``None`` once the time is spent."""


@dataclass(order=True)
class _Part:
    """The draws of one suite for one operation: how much of its share it had, and its place among all."""

    had: float
    place: int
    draws: Draws = field(compare=False)
    limits: Claimed = field(compare=False)
    origin_of: Callable[[int], int] = field(compare=False)
    turn: int = field(default=0, compare=False)
    misses: int = field(default=0, compare=False)


class Chooser:
    """Chooses the cases of one backend."""

    def __init__(
        self, plan: Plan, backend: BackendRun, origins: Origins, shown: ShownGoals, offered: Ids, explored: ExploredRun
    ) -> None:
        """Choose among the draws of the operations claimed; ``offered`` are the cases that the backend has."""
        self.backend = backend
        self.left = plan.choices
        self._ends = plan.time_budget is None
        self._added: deque[int] = deque(maxlen=LITTLE)
        self._seed, self._shown, self._offered, self._explored = plan.seed, shown, offered, explored
        self._owed = Ids()
        """What was offered because the deck showed nothing of its operation, whatever is chosen."""
        self._parts = [
            _Part(0.0, place, draws, limits, origins.draws(_within(draws, limits)))
            for place, draws in enumerate(plan.draws())
            if (limits := self.backend.scope.claims.get(draws.op)) is not None
        ]
        heapq.heapify(self._parts)

    @property
    def done(self) -> bool:
        """Return whether nothing more is to be chosen, or what is adds next to nothing."""
        little = self._ends and len(self._added) == LITTLE and sum(self._added) < PAIRS * LITTLE
        return not self._parts or self.left == 0 or little

    def choose(self) -> None:
        """Offer the next case, of the part that had least of its share; a part whose draws add nothing comes later."""
        part = heapq.heappop(self._parts)
        best = self._best(part)
        self._added.append(best[0] if best is not None else 0)
        part.misses = 0 if best is not None and best[0] > 0 else part.misses + 1
        if best is not None:
            _, number, one, goals = best
            self._shown.show(goals)
            self._offered.add(one.name)
            self.left = None if self.left is None else self.left - 1
            self._offer(one, part.origin_of(number))
        part.turn += 1
        part.had += (1 + part.misses) / part.draws.examples
        heapq.heappush(self._parts, part)

    def _offer(self, one: Trial, origin: int) -> None:
        """Offer a chosen case, unless it was owed."""
        if one.name not in self._owed:
            self._explored.choose(one, origin, self.backend)

    def show(self) -> None:
        """Offer a legal draw of each operation claimed of which no case of the deck passed, however late it is.

        The deck has one of each where everything is claimed; within narrow claims it may have none, and a run that
        shows nothing of what is claimed is inconclusive. A resumed run has records of what was owed and chosen before,
        which say nothing here: it owes what the undisturbed run does.
        """
        valued = self.backend.records.tally.valued_in_deck
        wanted = {op for op in self.backend.scope.claims if not valued[op]}
        for part in sorted(self._parts):
            if part.draws.op in wanted and self._show(part):
                wanted.remove(part.draws.op)

    def _show(self, part: _Part) -> bool:
        """Offer the first legal draw within the claims, of a few; return whether there is one."""
        for number in range(SHOWING):
            case, _ = numbered(part.draws.domain, self._seed, number, part.limits)
            one = self._explored.meaning(case, part.draws.suite, name_of(case))
            if one is None or not one.facts.legal or not one.dialect.valued(one.subject):
                continue
            within = self.backend.scope.outside(one) is None
            if within and one.name not in self._offered and self._owed.add(one.name):
                self._explored.owe(one, part.origin_of(number), self.backend)
                return True
        return False

    def _best(self, part: _Part) -> tuple[int, int, Trial, Goals] | None:
        """Return what the best of the next draws adds, its number, itself, and what it shows.

        Those that add most as far as that can be told without their meaning are weighed.
        """
        count = 1 if part.draws.suite in PLAIN_ONLY else TEN
        found: list[tuple[int, int, Any, Goals | None]] = []
        for number in range(part.turn * count, (part.turn + 1) * count):
            case, _ = numbered(part.draws.domain, self._seed, number, part.limits)
            if name_of(case) not in self._offered:
                rough = self._shown.rough_goals(case)
                found.append((-self._shown.adds(rough) if rough is not None else 0, number, case, rough))
        weighed: list[tuple[int, int, Trial, Goals]] = []
        for _, number, case, rough in sorted(found, key=lambda each: each[:2]):
            one = self._within(part, number, case)
            if one is not None:
                goals = rough if rough is not None and graph_of(case) is not None else self._shown.goals_of(one)
                weighed.append((-self._shown.adds(goals), number, one, goals | (rough or frozenset())))
            if len(weighed) == (WEIGHED if rough is not None else TEN):
                break
        if not weighed:
            return None
        adds, number, one, goals = min(weighed, key=lambda each: each[:2])
        return -adds, number, one, goals

    def _within(self, part: _Part, number: int, case: Any) -> Trial | None:
        """Return a case with what it means, if it lies within the claims; now and then one that does not is offered."""
        one = self._explored.meaning(case, part.draws.suite, name_of(case))
        if one is None or self.backend.scope.outside(one) is None:
            return one
        if part.turn % OUTSIDE == 0 and self.backend.scope.standing(one) is False and self._offered.add(one.name):
            # It is recorded as unsupported, or tried to see whether the claim is too small.
            self._offer(one, part.origin_of(number))
        return None


def _within(draws: Draws, limits: Claimed) -> Draws:
    return Draws(draws.suite, draws.op, draws.domain, draws.examples, draws.distinct, limits=limits)


def explored(choosers: Sequence[Chooser], explored: ExploredRun) -> Iterator[None]:
    """Choose cases, one for each time that this yields, for whichever backend has least to do."""
    by_name = {each.backend.name: each for each in choosers}
    while wanting := [each.backend for each in by_name.values() if not each.done]:
        backend = explored.free(wanting, AHEAD)
        if backend is None:
            return
        by_name[backend.name].choose()
        yield
