"""Pass 1: every backend is fed while the next case is drawn."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.clock import Clock
from conformance.runner.coverage.within import Share
from conformance.runner.dialect import Counting, Trial
from conformance.runner.dialects import name_of, operations, trial
from conformance.runner.draws import LONGEST, OUTSIDE, draw_numbered, numbered
from conformance.runner.ids import Ids
from conformance.runner.origins import Origins
from conformance.runner.plan import Draws, Plan
from conformance.runner.released_memory import collected_apart
from conformance.runner.worker.waiting import wait

MOST_OPEN: Final = 512
"""Cases handed over and not judged, of one backend, above which nothing more is drawn: a window of a worker."""

MOST_BYTES: Final = 4 << 20
"""The same in bytes of blocks, each of which takes some eight while its case is open: as hexadecimal digits, as a
request, and as what it means. With 64 MiB a run of all_to_all_uneven held 407 MB where its worker was slow."""


@dataclass(frozen=True)
class Drawn:
    """The clauses that spoke, by operation, and the draws, ``suite of operation``, that there was no time for."""

    exercised: Mapping[str, set[str]]
    undrawn: tuple[str, ...]


class Offering:
    """Offers cases to every backend, and more to those with few within their claims, each case once.

    Of what was offered only the ids are kept.

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
        self._own = {backend.name: Ids() for backend in backends}

    def domain(self, draws: Draws, origins: Origins) -> bool:
        """Draw from one domain and offer what is drawn; return whether there was time for all of it.

        All backends get the same cases first, the slow ones the first of them; then each draws of its own until it has
        its share within its claims.
        """
        shares = [Share(backend, draws.asked(backend.examples)) for backend in self._backends]
        most = max((share.examples for share in shares), default=draws.examples)
        origin_of, met = origins.draws(draws), Ids()

        def offer(number: int, case: Any) -> None:
            name = name_of(case)
            one = self._meaning(case, draws.suite, name) if met.add(name) else None
            if one is None:
                return
            asked = [share for share in shares if share.examples == draws.examples or number < share.examples]
            for share in asked:
                share.add(one, common=number < most)
            if name not in self._seen:
                self._offer(one, origin_of(number), [share.backend for share in asked])

        distinct = draws.distinct if most == draws.examples else 0
        found = draw_numbered(draws.domain, most, origins.seed, offer, distinct=distinct, late=self._late)
        if not found or operations()[draws.op].dear:
            return found
        for share in shares:
            found = self._share(share, draws, origins, met) and found
        return found

    def _share(self, share: Share, draws: Draws, origins: Origins, met: Ids) -> bool:
        """Draw for one backend alone until it has its share; return whether there was time for that.

        Of what lies outside its claims it gets what was drawn without looking at them. The cases in ``met`` were drawn
        for all.
        """
        backend, made = share.backend, Ids()
        own = replace(draws, limits=backend.scope.claims.get(draws.op, {}))
        origin_of = origins.draws(own)
        for number in range(draws.examples, draws.examples * LONGEST):
            if share.enough(number - draws.examples):
                break
            if self._late():
                return False
            case, _ = numbered(own.domain, origins.seed, number, own.limits)
            name = name_of(case)
            one = self._meaning(case, own.suite, name) if name not in met and made.add(name) else None
            if one is None:
                continue
            within = share.add(one, common=False)
            if (within or not number % OUTSIDE) and name not in self._seen and name not in self._own[backend.name]:
                self._own[backend.name].add(name)
                self._offer(one, origin_of(number), [backend], common=False)
        return True

    def listed(self, cases: Iterable[Any], suite: str) -> None:
        """Offer cases that were drawn before."""
        for case in cases:
            one = trial(case, suite)
            if one is not None:
                self._offer(one, None, self._backends)

    def _offer(self, one: Trial, origin: int | None, to: Sequence[BackendRun], *, common: bool = True) -> None:
        """Offer a case to some backends, a common one where it was not offered before; wait while one has too many."""
        if common:
            self._seen.add(one.name)
        with self._clock.phase("judging"):
            self.exercised[one.facts.op].update(one.dialect.speaking(one.subject))
            if one.dialect.name in self._counting:
                self._counting[one.dialect.name].add(one.subject)
        with self._clock.phase("waiting"):
            for backend in to:
                if common and one.name in self._own[backend.name]:
                    continue
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
        told = (backend.dialogues for backend in self._backends)
        return any(each.outstanding >= MOST_OPEN or each.bytes >= MOST_BYTES for each in told)

    def _meaning(self, case: Any, suite: str, name: str) -> Trial | None:
        with self._clock.phase("reference"):
            return trial(case, suite, name)


def draw_and_offer(
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
    with clock.phase("drawing"), collected_apart():
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
