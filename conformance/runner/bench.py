"""How fast the suite judges: distinct cases of the unmodified domain, in isolated workers, verdicts included."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

import msgspec

from conformance.runner.clock import Clock
from conformance.runner.explore import Plan, pass_one
from conformance.runner.lane import Judgeable, Lane
from conformance.runner.log import CaseRecord


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """One pass over the domain on one backend.

    ``cases`` counts distinct cases that the backend answered; ``unanswered`` those outside its claims, which
    cost it nothing and are in no rate. ``seconds`` is wall time, the start of the worker included when
    ``fresh``. ``phases`` splits the runner's share of it: drawing cases, the reference, judging, and waiting
    (with sending and reading); ``backend`` is time inside the backend, at the same moment in another process.
    """

    backend: str
    kind: Literal["fresh", "cached"]
    cases: int
    unanswered: int
    seconds: float
    backend_seconds: float
    phases: dict[str, float]

    @property
    def cases_per_second(self) -> float:
        """Return the rate at which cases were answered and judged."""
        return self.cases / self.seconds

    @property
    def reference_share(self) -> float:
        """Return the reference's part of the wall time."""
        return self.phases.get("reference", 0.0) / self.seconds


def bench_suite(
    name: str, worker: Judgeable, plan: Plan, watch: Callable[[CaseRecord], None] = lambda record: None
) -> tuple[Measured, Measured]:
    """Return a pass on a ``worker`` that has not started, and the same cases again now that it is warm.

    Raise ``StartError`` when it does not start.
    """
    fresh = _measure("fresh", name, worker, plan, watch)
    return fresh, _measure("cached", name, worker, plan, watch)


def _measure(
    kind: Literal["fresh", "cached"], name: str, worker: Judgeable, plan: Plan, watch: Callable[[CaseRecord], None]
) -> Measured:
    answered = unanswered = 0

    def count(record: CaseRecord) -> None:
        nonlocal answered, unanswered
        if record.outcome in ("unsupported", "not_run"):
            unanswered += 1
        else:
            answered += 1
        watch(record)

    clock, began = Clock(), time.monotonic()
    with clock.phase("waiting"):
        lane = Lane(name, worker, count, clock)
    pass_one(plan, [lane], began, clock)
    return Measured(
        backend=name,
        kind=kind,
        cases=answered,
        unanswered=unanswered,
        seconds=time.monotonic() - began,
        backend_seconds=lane.seconds,
        phases={str(phase): round(seconds, 3) for phase, seconds in clock.seconds.items()},
    )
