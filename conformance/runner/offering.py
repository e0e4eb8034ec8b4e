"""Pass 1: every backend is fed while the next case is drawn."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from conformance.backends.released_memory import collected_apart
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.clock import Clock
from conformance.runner.deck import offer_deck
from conformance.runner.dialect import Counting, Trial
from conformance.runner.dialects import trial
from conformance.runner.ids import Ids
from conformance.runner.origins import Origins
from conformance.runner.plan import Plan
from conformance.runner.records.record import DrawnParts
from conformance.runner.slices.units import units_of
from conformance.runner.turns import Part, drawn_in_turns
from conformance.runner.worker.waiting_thread import wait

MOST_OPEN: Final = 512
"""Cases handed over and not judged, of one backend, above which nothing more is drawn: a window of a worker."""

MOST_ASKED: Final = 160
"""The same of those that a worker was asked about. With what it means one takes 90 KiB: where a worker was slow, 512 of
them left small objects all over 45 MiB, which Python could not give back. With 64 a native run took 9 % longer."""

MOST_BYTES: Final = 4 << 20
"""The same in bytes of blocks, each of which takes some eight while its case is open: as hexadecimal digits, as a
request, and as what it means. With 64 MiB a run of all_to_all_uneven held 407 MB where its worker was slow."""


@dataclass(frozen=True)
class Drawing:
    """How far pass 1 is: the ``part`` of the draws that is made, and how many records what was ``offered`` comes to."""

    part: float
    offered: int


class Offering:
    """Offers cases to every backend, and others to one alone, each case once. Of them only the ids are kept.

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
        self.backends, self.late, self._clock = backends, late, clock
        self.offered = 0
        self._counting, self._patience = counting, patience
        self._seen = Ids()
        self._own = {backend.name: Ids() for backend in backends}

    def listed(self, cases: Iterable[Any], suite: str) -> None:
        """Offer cases that were drawn before."""
        for case in cases:
            one = trial(case, suite)
            if one is not None:
                self.hand(one, None, self.backends)

    def offer(self, one: Trial, origin: int, to: Sequence[BackendRun]) -> None:
        """Offer a case that was drawn for all to these backends, once."""
        if self._seen.add(one.name):
            self.hand(one, origin, [backend for backend in to if one.name not in self._own[backend.name]])

    def offer_own(self, one: Trial, origin: int, backend: BackendRun) -> None:
        """Offer a case that was drawn for one backend, unless it was offered."""
        if one.name not in self._seen and self._own[backend.name].add(one.name):
            self.hand(one, origin, [backend])

    def hand(self, one: Trial, origin: int | None, to: Sequence[BackendRun]) -> None:
        """Hand a case to some backends; wait while one has too many."""
        self.offered += len(to)
        with self._clock.phase("judging"):
            self.exercised[one.facts.op].update(one.dialect.speaking(one.subject))
            if one.dialect.name in self._counting:
                self._counting[one.dialect.name].add(one.subject)
        with self._clock.phase("waiting"):
            for backend in to:
                if self.late():
                    backend.skip(one)
                else:
                    backend.offer(one, origin)
            collect(self.backends, 0.0)
            while self._full() and not self.late():
                collect(self.backends, self._patience)

    def settle(self) -> None:
        """Wait until every case is judged, or it is late."""
        with self._clock.phase("waiting"):
            while any(backend.dialogues.outstanding for backend in self.backends) and not self.late():
                collect(self.backends, self._patience)

    def finish(self) -> None:
        """Wait until every case is judged; give up what is left when it is late."""
        self.settle()
        if self.late():
            for backend in self.backends:
                backend.abandon()

    def _full(self) -> bool:
        told = (backend.dialogues for backend in self.backends)
        return any(
            each.outstanding >= MOST_OPEN or each.asked >= MOST_ASKED or each.bytes >= MOST_BYTES for each in told
        )

    def meaning(self, case: Any, suite: str, name: str) -> Trial | None:
        """Return a case with what it means; ``None`` for a draw that is no case."""
        with self._clock.phase("reference"):
            return trial(case, suite, name)


class Apart:
    """Offers the cases of one unit of a slice, whatever others have: each case once."""

    def __init__(self, offering: Offering) -> None:
        """Hand cases to the backends of ``offering``."""
        self.backends, self.late = offering.backends, offering.late
        self.meaning, self.settle = offering.meaning, offering.settle
        self._hand = offering.hand
        self._seen = Ids()
        self._own = {backend.name: Ids() for backend in offering.backends}

    def offer(self, one: Trial, origin: int, to: Sequence[BackendRun]) -> None:
        """Offer a case that was drawn for all to these backends, once."""
        if self._seen.add(one.name):
            self._hand(one, origin, [backend for backend in to if one.name not in self._own[backend.name]])

    def offer_own(self, one: Trial, origin: int, backend: BackendRun) -> None:
        """Offer a case that was drawn for one backend, unless it was offered."""
        if one.name not in self._seen and self._own[backend.name].add(one.name):
            self._hand(one, origin, [backend])


def draw_and_offer(
    plan: Plan,
    backends: Sequence[BackendRun],
    late: Callable[[], bool],
    clock: Clock | None = None,
    cases: Iterable[Any] | None = None,
    *,
    origins: Origins | None = None,
    counting: Mapping[str, Counting[Any]] | None = None,
    drawing: Callable[[Drawing], None] = lambda far: None,
) -> DrawnParts:
    """Judge what the plan draws, or ``cases`` drawn before.

    When it is ``late`` nothing more is drawn, and what is not answered then is not run. ``origins`` are told where
    cases come from, ``counting``, by dialect, is shown every one, and ``drawing`` how far it is.
    """
    clock, origins = clock or Clock(), origins or Origins(plan.seed)
    patience = 1.0 if plan.time_budget is None else 0.1
    offering = Offering(backends, late, clock, counting=counting or {}, patience=patience)
    parts: list[Part] = []
    whole = 0.0
    with clock.phase("drawing"), collected_apart():
        if cases is None:
            if plan.deck != 0:
                for whole in offer_deck(plan, offering, backends, origins):
                    drawing(Drawing(whole if not plan.explores else whole / 2, offering.offered))
            if plan.explores and plan.slice is None:
                parts += (Part(draws, offering, origins) for draws in plan.draws())
            elif plan.slice is not None:
                # What two units have alike both have, so that each has the same whoever runs the other.
                parts += (Part(unit.draws, Apart(offering), origins) for unit in units_of(plan, plan.slice))
            for done in drawn_in_turns(parts, offering):
                drawing(Drawing(done if plan.deck == 0 else (1 + done) / 2, offering.offered))
        else:
            offering.listed(cases, plan.suites[0])
        offering.finish()
    return DrawnParts(
        exercised={op: tuple(sorted(clauses)) for op, clauses in offering.exercised.items()},
        undrawn=_undrawn(plan, parts, whole),
        beyond=tuple(part.name for part in parts if part.beyond),
    )


def _undrawn(plan: Plan, parts: Sequence[Part], whole: float) -> tuple[str, ...]:
    """Return what there was no time for."""
    if plan.deck != 0 and whole < 1.0:
        return ("the deck",)
    return tuple(part.name for part in parts if not part.done)


def collect(backends: Sequence[BackendRun], timeout: float) -> None:
    """Judge what was answered, waiting up to ``timeout`` seconds for the first answer."""
    wait([worker for backend in backends for worker in backend.dialogues.workers], timeout)
    for backend in backends:
        backend.collect()


def lateness(plan: Plan, began: float, part: float = 1.0) -> Callable[[], bool]:
    """Return what tells whether ``part`` of the time budget is spent, counted from ``began`` (``time.monotonic``)."""
    budget = plan.time_budget
    return lambda: budget is not None and time.monotonic() - began > part * budget
