"""Pass 1: every backend is fed while the next case is drawn."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from conformance.cases.case import Case, case_id
from conformance.judging.applicability import applicable
from conformance.judging.clause import Subject
from conformance.runner.backend_run import Lane
from conformance.runner.clock import Clock
from conformance.runner.coverage.within import Within
from conformance.runner.draws import draw_cases
from conformance.runner.meaning import meaning
from conformance.runner.plan import Draws, Plan
from conformance.runner.worker.waiting import wait
from conformance.specs import clauses_of


@dataclass(frozen=True)
class Drawn:
    """The clauses that spoke, by operation, and the draws, ``suite of operation``, that there was no time for."""

    exercised: Mapping[str, set[str]]
    undrawn: tuple[str, ...]


def pass_one(
    plan: Plan,
    lanes: Sequence[Lane],
    late: Callable[[], bool],
    clock: Clock | None = None,
    cases: Iterable[Case] | None = None,
) -> Drawn:
    """Judge the domain of every operation, or ``cases`` drawn before.

    When it is ``late`` nothing more is drawn, and what is not answered then is not run.
    """
    clock = clock or Clock()
    exercised: defaultdict[str, set[str]] = defaultdict(set)
    seen: dict[str, Subject] = {}
    within = Within(lanes)

    def draw(case: Case, draws: Draws) -> None:
        name = case_id(case)
        if name not in seen:
            sink(name, case, draws.suite)
        within.add(draws, name, seen[name])

    def sink(name: str, case: Case, suite: str) -> None:
        with clock.phase("reference"):
            subject = seen[name] = meaning(case)
        with clock.phase("judging"):
            exercised[subject.step.op].update(clause.id for clause in applicable(subject, clauses_of))
        with clock.phase("waiting"):
            for lane in lanes:
                if late():
                    lane.skip(name, subject, suite)
                else:
                    lane.offer(name, subject, suite)
            _collect(lanes, 0.0)

    undrawn = []
    with clock.phase("drawing"):
        for draws in plan.draws() if cases is None else ():
            offer, enough = partial(draw, draws=draws), partial(within.enough, draws)
            whole = draw_cases(
                draws.domain, draws.examples, plan.seed, offer, distinct=draws.distinct, enough=enough, late=late
            )
            undrawn += [] if whole else [f"{draws.suite} of {draws.op}"]
        for case in cases or ():
            sink(case_id(case), case, plan.suites[0])
    with clock.phase("waiting"):
        while any(lane.worker.outstanding for lane in lanes):
            if late():
                for lane in lanes:
                    lane.abandon()
                break
            _collect(lanes, 1.0 if plan.time_budget is None else 0.1)
    return Drawn(exercised, tuple(undrawn))


def _collect(lanes: Sequence[Lane], timeout: float) -> None:
    wait([lane.worker for lane in lanes], timeout)
    for lane in lanes:
        lane.collect()


def lateness(plan: Plan, began: float) -> Callable[[], bool]:
    """Return what tells whether the time budget of ``plan`` is spent, counted from ``began`` (``time.monotonic``)."""
    budget = plan.time_budget
    return lambda: budget is not None and time.monotonic() - began > budget
