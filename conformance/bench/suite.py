"""How fast the suite judges: distinct cases of the unmodified domain, in isolated workers, verdicts included."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.budget import Budget
from conformance.runner.clock import Clock
from conformance.runner.dialects import dialects, name_of
from conformance.runner.offering import draw_and_offer
from conformance.runner.outcomes import ENDING, UNJUDGED
from conformance.runner.plan import Plan
from conformance.runner.records.record import CaseRecord, Covered
from conformance.runner.worker.interface import Judgeable


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """One pass over the domain on one backend.

    ``cases`` counts distinct cases that the backend answered; ``unanswered`` those outside its claims, and those
    that a ``cached`` pass leaves out because they end the worker. They cost nothing and are in no rate.
    ``seconds`` is wall time, the start of the worker included when ``fresh``. ``phases`` splits the runner's share
    of it: drawing cases, the reference, judging, and waiting (with sending and reading); ``backend_seconds`` is
    time inside the backend, at the same moment in another process.
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
    """Return a pass on a ``worker`` that has not started, and the same cases again, not drawn, now that it is warm.

    A case that ends the worker also ends its warmth: where there are any, the second pass leaves them out, and
    unmeasured ones before it warm the worker again, until none ends it, for some end it now and then only. Raise
    ``StartError`` when the worker does not start.
    """
    records: list[CaseRecord] = []

    def keep(record: CaseRecord) -> None:
        records.append(record)
        watch(record)

    cases: list[Any] = []
    fresh = _measure("fresh", name, worker, plan, keep, drawn=cases.append)
    warm = cases
    while ending := {record.case for record in records if record.outcome in ENDING}:
        warm = [case for case in warm if name_of(case) not in ending]
        records.clear()
        _measure("cached", name, worker, plan, keep, cases=warm)
    again = _measure("cached", name, worker, plan, watch, cases=warm)
    return fresh, msgspec.structs.replace(again, unanswered=again.unanswered + len(cases) - len(warm))


def _measure(
    kind: Literal["fresh", "cached"],
    name: str,
    worker: Judgeable,
    plan: Plan,
    watch: Callable[[CaseRecord], None],
    *,
    cases: Sequence[Any] | None = None,
    drawn: Callable[[Any], None] = lambda case: None,
) -> Measured:
    answered = unanswered = 0

    def count(record: CaseRecord) -> None:
        nonlocal answered, unanswered
        if record.outcome in UNJUDGED:
            unanswered += 1
        else:
            answered += 1
        watch(record)

    clock, began = Clock(), time.monotonic()
    with clock.phase("waiting"):
        backend = BackendRun(name, worker, count, clock)
    counting = {name: _Kept(drawn) for name in dialects()}
    draw_and_offer(plan, [backend], Budget(plan).late, clock, cases, counting=counting)
    seconds = time.monotonic() - began
    return Measured(
        backend=name,
        kind=kind,
        cases=answered,
        unanswered=unanswered,
        seconds=seconds,
        backend_seconds=backend.seconds,
        phases={str(phase): round(spent, 3) for phase, spent in clock.seconds.items()},
    )


@dataclass(frozen=True)
class _Kept:
    """Hands on the case of everything that is offered."""

    keep: Callable[[Any], None]

    def add(self, subject: Any) -> None:
        self.keep(subject.case)

    def measured(self) -> dict[str, Covered]:
        return {}
