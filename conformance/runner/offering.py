"""Pass 1: every backend is fed while the next case is drawn."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final

from conformance.backends.released_memory import collected_apart
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.clock import Clock
from conformance.runner.deck import offer_deck, orders_of
from conformance.runner.dialect import Counting, Trial
from conformance.runner.dialects import trial
from conformance.runner.exploration import Chooser, explored
from conformance.runner.ids import Ids
from conformance.runner.origins import Origins
from conformance.runner.plan import DECK, Plan
from conformance.runner.records.record import DrawnParts
from conformance.runner.shown_goals import ShownGoals
from conformance.runner.slices.units import units_of
from conformance.runner.turns import SuiteDraws, drawn_in_turns
from conformance.runner.worker.waiting_thread import wait
from conformance.vectors.deck import deck

MOST_OPEN: Final = 512
"""Cases handed over and not judged, of one backend, above which nothing more is drawn: a window of a worker."""

MOST_ASKED: Final = 160
"""The same of those that a worker was asked about. With what it means one takes 90 KiB: where a worker was slow, 512 of
them left small objects all over 45 MiB, which Python could not give back. With 64 a native run took 9 % longer."""

MOST_BYTES: Final = 4 << 20
"""The same in bytes of blocks, each of which takes some eight while its case is open: as hexadecimal digits, as a
request, and as what it means. With 64 MiB a run of all_to_all_uneven held 407 MB where its worker was slow."""

UNDER_WAY: Final = 2.0
"""Seconds of work that a backend has before it while draws go on: what is under way when they end is waited for so
long, and given up then."""

FEWEST: Final = 4
"""Cases that it has before it all the same."""


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
        over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Offer cases to ``backends``; nothing is asked when it is ``late``, which is looked at after ``patience``.

        Draws behind the deck end when they are ``over``.
        """
        self.exercised: defaultdict[str, set[str]] = defaultdict(set)
        self.backends, self.late, self.over, self._clock = backends, late, over, clock
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

    def choose(self, one: Trial, origin: int, backend: BackendRun) -> None:
        """Offer a case that nobody is owed to one backend."""
        self._speak(one)
        self.offered += 1
        with self._clock.phase("waiting"):
            backend.offer(one, origin, owed=False)
            collect(self.backends, 0.0)

    def owe(self, one: Trial, origin: int, backend: BackendRun) -> None:
        """Offer a case to one backend whose verdict is waited for."""
        self.hand(one, origin, [backend])

    def free(self, backends: Sequence[BackendRun], most: int) -> BackendRun | None:
        """Return the backend that has least to do, and fewer cases than ``most``; ``None`` once draws are over."""
        while not self.over():
            found = min(backends, key=lambda each: each.dialogues.outstanding * each.pace)
            ahead = min(most, max(FEWEST, int(UNDER_WAY / max(found.pace, 1e-6))))
            if found.dialogues.outstanding < ahead and found.dialogues.bytes < MOST_BYTES:
                return found
            with self._clock.phase("waiting"):
                collect(self.backends, self._patience)
        return None

    def given(self, backend: BackendRun) -> Ids:
        """Return the cases that a backend alone was offered."""
        return self._own[backend.name]

    def hand(self, one: Trial, origin: int | None, to: Sequence[BackendRun]) -> None:
        """Hand a case to some backends; wait while one has too many."""
        self.offered += len(to)
        self._speak(one)
        with self._clock.phase("waiting"):
            for backend in to:
                if self.late():
                    backend.skip(one)
                else:
                    backend.offer(one, origin)
            collect(self.backends, 0.0)
            while self._full() and not self.late():
                collect(self.backends, self._patience)

    def _speak(self, one: Trial) -> None:
        """Take note of the clauses that a case makes speak, and count what it shows where that was asked for."""
        with self._clock.phase("judging"):
            self.exercised[one.facts.op].update(one.dialect.speaking(one.subject))
            if one.dialect.name in self._counting:
                self._counting[one.dialect.name].add(one.subject)

    def settle(self) -> None:
        """Wait until every case is judged, or it is late."""
        for backend in self.backends:
            backend.dialogues.gathered()
        with self._clock.phase("waiting"):
            while any(backend.dialogues.outstanding for backend in self.backends) and not self.late():
                collect(self.backends, self._patience)

    def finish(self) -> None:
        """Wait until every case is judged that somebody is owed; give up what is left when it is late."""
        ended = time.monotonic()
        for backend in self.backends:
            backend.dialogues.gathered()
        with self._clock.phase("waiting"):
            while self._awaited(ended) and not self.late():
                collect(self.backends, min(self._patience, 0.1))
        for backend in self.backends:
            if backend.dialogues.outstanding:
                backend.abandon()

    def _awaited(self, ended: float) -> bool:
        """Return whether something is waited for: what nobody is owed only a moment after the time for it is spent."""
        under_way = [backend.dialogues for backend in self.backends if backend.dialogues.outstanding]
        if any(each.owing for each in under_way):
            return True
        return bool(under_way) and (not self.over() or time.monotonic() - ended < UNDER_WAY)

    def _full(self) -> bool:
        told = (backend.dialogues for backend in self.backends)
        return any(
            each.outstanding >= MOST_OPEN or each.asked >= MOST_ASKED or each.bytes >= MOST_BYTES for each in told
        )

    def referring(self) -> AbstractContextManager[None]:
        """Count the time within as time of the reference."""
        return self._clock.phase("reference")

    def meaning(self, case: Any, suite: str, name: str) -> Trial | None:
        """Return a case with what it means; ``None`` for a draw that is no case."""
        with self.referring():
            return trial(case, suite, name)


class UnitOffering:
    """Offers the cases of one unit of a slice, whatever others have: each case once."""

    def __init__(self, offering: Offering) -> None:
        """Hand cases to the backends of ``offering``."""
        self.backends, self.late = offering.backends, offering.late
        self.meaning = offering.meaning
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
    over: Callable[[], bool] = lambda: False,
    explored_part: Callable[[float], float] = lambda done: 0.0,
) -> DrawnParts:
    """Judge what the plan draws, or ``cases`` drawn before.

    When it is ``late`` nothing more is drawn, and what is not answered then is not run; draws that go on for as long as
    there is time end when they are ``over``, and leave nothing behind. ``origins`` are told where cases come from,
    ``counting``, by dialect, is shown every one, and ``drawing`` how far it is: where draws go by time
    ``explored_part`` says that, told how much of the deck is done.
    """
    clock, origins = clock or Clock(), origins or Origins(plan.seed)
    patience = 1.0 if plan.time_budget is None and plan.exploration is None else 0.1
    offering = Offering(backends, late, clock, counting=counting or {}, patience=patience, over=over)
    parts: list[SuiteDraws] = []
    whole, orders = 0.0, list[list[int]]()
    with clock.phase("drawing"), collected_apart():
        if cases is None:
            if plan.deck != 0:
                orders = orders_of(plan, backends)
                for whole in offer_deck(orders, offering, backends, origins):
                    drawing(Drawing(_part(plan, whole, explored_part), offering.offered))
            if plan.exploration is not None:
                if whole == 1.0:
                    offering.settle()
                    choosers = tuple(_choosers(plan, backends, orders, origins, offering))
                    for chooser in choosers if not late() else ():
                        chooser.show()
                    for _ in explored(choosers, offering):
                        drawing(Drawing(explored_part(1.0), offering.offered))
            elif plan.explores and plan.slice is None:
                parts += (SuiteDraws(draws, offering, origins) for draws in plan.draws())
            elif plan.explores and plan.slice is not None:
                # What two units have alike both have, so that each has the same whoever runs the other.
                parts += (
                    SuiteDraws(unit.draws, UnitOffering(offering), origins) for unit in units_of(plan, plan.slice)
                )
            for done in drawn_in_turns(parts):
                drawing(Drawing(done if plan.deck == 0 else (1 + done) / 2, offering.offered))
        else:
            offering.listed(cases, plan.suites[0])
        offering.finish()
    return DrawnParts(
        exercised={op: tuple(sorted(clauses)) for op, clauses in offering.exercised.items()},
        undrawn=_undrawn(plan, parts, whole),
        beyond=tuple(part.name for part in parts if part.beyond),
    )


def _choosers(
    plan: Plan, backends: Sequence[BackendRun], orders: Sequence[Sequence[int]], origins: Origins, offering: Offering
) -> Iterable[Chooser]:
    """Return what chooses the draws behind the deck for each backend, which was asked its part of the deck."""
    for backend, order in zip(backends, orders, strict=True):
        shown = ShownGoals()
        shown.of_deck(deck(), order)
        yield Chooser(plan, backend, origins, shown, offering.given(backend), offering)


def _part(plan: Plan, whole: float, explored_part: Callable[[float], float]) -> float:
    """Return how much of a run is done when so much of the deck is."""
    if plan.exploration is not None:
        return explored_part(whole)
    return whole / 2 if plan.explores else whole


def _undrawn(plan: Plan, parts: Sequence[SuiteDraws], whole: float) -> tuple[str, ...]:
    """Return what there was no time for."""
    if plan.deck != 0 and whole < 1.0:
        return (DECK,)
    return tuple(part.name for part in parts if not part.done)


def collect(backends: Sequence[BackendRun], timeout: float) -> None:
    """Judge what was answered, waiting up to ``timeout`` seconds for the first answer."""
    if timeout:
        for backend in backends:
            backend.dialogues.waited()
    wait([worker for backend in backends for worker in backend.dialogues.workers], timeout)
    for backend in backends:
        backend.collect()
