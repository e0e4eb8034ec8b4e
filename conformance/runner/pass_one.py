"""Pass 1: every backend is fed while the next case is drawn."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.clock import Clock
from conformance.runner.coverage.within import Within
from conformance.runner.dialect import Counting, Trial
from conformance.runner.dialects import name_of, trial
from conformance.runner.draws import draw_numbered
from conformance.runner.ids import Ids
from conformance.runner.origins import Origins
from conformance.runner.plan import Draws, Plan
from conformance.runner.worker.waiting import wait

MOST_OPEN: Final = 2048
"""Cases handed over and not judged, of one backend, above which nothing more is drawn: four windows of a worker."""


@dataclass(frozen=True)
class Drawn:
    """The clauses that spoke, by operation, and the draws, ``suite of operation``, that there was no time for."""

    exercised: Mapping[str, set[str]]
    undrawn: tuple[str, ...]


class Offering:
    """Offers cases to every backend, each case once; of what was offered only the ids are kept.

    ``counting``, by dialect, is shown every case.
    """

    def __init__(
        self,
        backends: Sequence[BackendRun],
        late: Callable[[], bool],
        clock: Clock,
        *,
        counting: Mapping[str, Counting[Any]],
        patience: float,
    ) -> None:
        """Offer cases to ``backends``; nothing is asked when it is ``late``, which is looked at after ``patience``."""
        self.exercised: defaultdict[str, set[str]] = defaultdict(set)
        self._backends, self._late, self._clock = backends, late, clock
        self._counting, self._patience = counting, patience
        self._seen = Ids()

    def domain(self, draws: Draws, origins: Origins) -> bool:
        """Draw from one domain and offer what is drawn; return whether there was time for all of it."""
        within = Within(self._backends, draws)
        offer = partial(self._draw, draws=draws, origin_of=origins.draws(draws), within=within)
        return draw_numbered(
            draws.domain,
            draws.examples,
            origins.seed,
            offer,
            distinct=draws.distinct,
            enough=within.enough,
            late=self._late,
        )

    def listed(self, cases: Iterable[Any], suite: str) -> None:
        """Offer cases that were drawn before."""
        for case in cases:
            one = trial(case, suite)
            if one is not None:
                self._offer(one)

    def _draw(self, number: int, case: Any, draws: Draws, origin_of: Callable[[int], int], within: Within) -> None:
        """Offer a draw, unless it is no case or was offered before."""
        name = name_of(case)
        if not within.new(name):
            return
        one = self._meaning(case, draws.suite, name)
        if one is not None:
            if not one.dialect.dear:
                within.add(one)
            if name not in self._seen:
                self._offer(one, origin_of(number))

    def _offer(self, one: Trial, origin: int | None = None) -> None:
        """Offer a case that was not offered before, and wait while a backend has too many before it."""
        self._seen.add(one.name)
        with self._clock.phase("judging"):
            self.exercised[one.facts.op].update(one.dialect.speaking(one.subject))
            if one.dialect.name in self._counting:
                self._counting[one.dialect.name].add(one.subject)
        with self._clock.phase("waiting"):
            for backend in self._backends:
                if self._late():
                    backend.skip(one)
                else:
                    backend.offer(one, origin)
            collect(self._backends, 0.0)
            while self._full() and not self._late():
                collect(self._backends, self._patience)

    def finish(self) -> None:
        """Wait until every case is judged, or it is late."""
        with self._clock.phase("waiting"):
            while any(backend.dialogues.outstanding for backend in self._backends):
                if self._late():
                    for backend in self._backends:
                        backend.abandon()
                    break
                collect(self._backends, self._patience)

    def _full(self) -> bool:
        return any(backend.dialogues.outstanding >= MOST_OPEN for backend in self._backends)

    def _meaning(self, case: Any, suite: str, name: str) -> Trial | None:
        with self._clock.phase("reference"):
            return trial(case, suite, name)


def pass_one(
    plan: Plan,
    backends: Sequence[BackendRun],
    late: Callable[[], bool],
    clock: Clock | None = None,
    cases: Iterable[Any] | None = None,
    *,
    origins: Origins | None = None,
    counting: Mapping[str, Counting[Any]] | None = None,
) -> Drawn:
    """Judge the domain of every operation, or ``cases`` drawn before.

    When it is ``late`` nothing more is drawn, and what is not answered then is not run. ``origins`` are told where
    cases come from, and ``counting``, by dialect, is shown every one.
    """
    clock, origins = clock or Clock(), origins or Origins(plan.seed)
    patience = 1.0 if plan.time_budget is None else 0.1
    offering = Offering(backends, late, clock, counting=counting or {}, patience=patience)
    undrawn: list[str] = []
    with clock.phase("drawing"):
        if cases is None:
            undrawn = [f"{draws.suite} of {draws.op}" for draws in plan.draws() if not offering.domain(draws, origins)]
        else:
            offering.listed(cases, plan.suites[0])
    offering.finish()
    return Drawn(offering.exercised, tuple(undrawn))


def collect(backends: Sequence[BackendRun], timeout: float) -> None:
    """Judge what was answered, waiting up to ``timeout`` seconds for the first answer."""
    wait([worker for backend in backends for worker in backend.dialogues.workers], timeout)
    for backend in backends:
        backend.collect()


def lateness(plan: Plan, began: float) -> Callable[[], bool]:
    """Return what tells whether the time budget of ``plan`` is spent, counted from ``began`` (``time.monotonic``)."""
    budget = plan.time_budget
    return lambda: budget is not None and time.monotonic() - began > budget
