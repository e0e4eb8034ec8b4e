"""The one engine: draws cases, feeds every backend at once, judges, minimises, and writes the run log."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path

from conformance.cases.case import Case, case_id
from conformance.cases.codec import save
from conformance.judging.clause import Subject
from conformance.judging.speaking import applicable
from conformance.judging.verdict import Verdict
from conformance.runner.clock import Clock
from conformance.runner.coverage import Coverage
from conformance.runner.draws import draw_cases
from conformance.runner.header import header_of, kept_of, now
from conformance.runner.known import Replayed, known_failures, replay_known
from conformance.runner.known_file import KnownCase
from conformance.runner.lane import Judgeable, Lane
from conformance.runner.log import (
    CaseRecord,
    Failure,
    Footer,
    Log,
    Record,
    Silence,
    case_file,
)
from conformance.runner.meaning import all_binding, meaning
from conformance.runner.minimise import failures
from conformance.runner.outcomes import OWED, UNJUDGED
from conformance.runner.plan import Draws, Plan
from conformance.runner.silent import silence
from conformance.runner.waiting import wait
from conformance.runner.within import Within
from conformance.specs import clauses_of


@dataclass(frozen=True)
class Result:
    """What a run came to. ``never`` lists clauses of the plan's operations that no case triggered.

    ``silent`` has, for each backend, what none of its own cases triggered.
    ``pairwise`` has, for every two dimensions of the domain, the pairs of values that met and all there are.
    ``failures`` are new ones; ``known`` still fail as expected, and ``replayed`` are the records of all known cases.
    ``unexplained`` are the failing cases that none of them stands for.
    """

    counts: Mapping[str, Mapping[str, int]]
    failures: tuple[Failure, ...]
    never: tuple[str, ...]
    pairwise: Mapping[str, tuple[int, int]]
    seconds: float
    known: tuple[Failure, ...] = ()
    replayed: tuple[CaseRecord, ...] = ()
    unexplained: tuple[CaseRecord, ...] = ()
    silent: Mapping[str, Silence] = field(default_factory=dict)

    @property
    def unmet(self) -> tuple[CaseRecord, ...]:
        """Return the records of known failures that passed, failed in another way, or whose entry expired."""
        return tuple(record for record in self.replayed if record.expected and not record.expected.met)

    @property
    def breaks_must(self) -> bool:
        """Return whether something new breaks a *must*, be it that no smallest case stands for it."""
        new = [failure.requirement for failure in self.failures]
        return "must" in new + [record.requirement for record in self.unexplained]

    @property
    def status(self) -> int:
        """Return the exit status: 0 nothing new fails, 1 a *must* clause or an expectation does, 3 not all was run."""
        if self.unmet or self.breaks_must:
            return 1
        judged = all(not OWED & counts.keys() and counts.keys() - UNJUDGED for counts in self.counts.values())
        return 0 if judged and self.counts and not self.never else 3


@dataclass
class _Run:
    """The state of a run: what was written so far."""

    log: Log
    watch: Callable[[Record], None]
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    replayed: list[CaseRecord] = field(default_factory=list)
    failing: list[CaseRecord] = field(default_factory=list)

    def write(self, record: Record) -> None:
        self.log.write(record)
        self.tell(record)

    def tell(self, record: Record) -> None:
        if isinstance(record, CaseRecord):
            self.counts.setdefault(record.backend, Counter())[record.outcome] += 1
            self.replayed += [record] if record.expected else []
            self.failing += [record] if record.blame and not record.expected else []
        self.watch(record)


def explore(
    plan: Plan,
    workers: Mapping[str, Judgeable],
    directory: Path,
    *,
    known: Sequence[KnownCase] = (),
    resume: bool = False,
    watch: Callable[[Record], None] = lambda record: None,
) -> Result:
    """Run ``plan`` on every worker, by name, and write ``directory/run.jsonl`` and the failing cases.

    The ``known`` failures of these workers and operations are replayed first, whatever was resumed.
    ``watch`` sees every record as it is written. Raise ``LogError`` when the directory holds a log already
    and ``resume`` is false, or holds the log of another plan.
    """
    began = time.monotonic()
    header = header_of(plan, workers)
    kept = kept_of(directory / "run.jsonl", header, known, resume=resume)
    run = _Run(Log(directory / "run.jsonl", keep=kept), watch)
    lanes = [Lane(name, worker, run.write) for name, worker in workers.items()]
    if kept is None:
        run.write(header)
    for record in kept or ():
        _take_over(record, lanes)
        run.tell(record)
    try:
        today, late = datetime.now(UTC).date(), partial(_late, plan, began)
        replayed = {lane.name: replay_known(known, lane, plan, today, late) for lane in lanes}
        exercised = pass_one(plan, lanes, began)
        found = tuple(_pass_two(plan, lanes, replayed, directory, run))
        never = tuple(sorted(plan.clauses().difference(*exercised.values())))
        silent = {lane.name: silence(plan, lane, exercised) for lane in lanes}
        pairwise = _pairwise(lanes)
        seconds = time.monotonic() - began
        run.write(
            Footer(
                finished=now(),
                seconds=round(seconds, 3),
                counts={name: dict(counts) for name, counts in run.counts.items()},
                seconds_by_backend={lane.name: round(lane.seconds, 3) for lane in lanes},
                clauses_never_exercised=never,
                silent=silent,
                pairwise=pairwise,
            )
        )
    finally:
        run.log.close()
    new = tuple(failure for failure in found if failure.known is None)
    still = tuple(failure for failure in found if failure.known is not None)
    explained = {(failure.backend, case) for failure in found for case in failure.explains}
    left = tuple(record for record in run.failing if (record.backend, record.case) not in explained)
    return Result(run.counts, new, never, pairwise, seconds, still, tuple(run.replayed), left, silent)


def pass_one(
    plan: Plan, lanes: Sequence[Lane], began: float, clock: Clock | None = None, cases: Iterable[Case] | None = None
) -> dict[str, set[str]]:
    """Judge the domain of every operation, or ``cases`` drawn before; return the clauses that spoke, by operation."""
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
        late = _late(plan, began)
        with clock.phase("waiting"):
            for lane in lanes:
                if late:
                    lane.skip(name, subject, suite)
                else:
                    lane.offer(name, subject, suite)
            _collect(lanes, 0.0)

    with clock.phase("drawing"):
        for draws in plan.draws() if cases is None else ():
            offer, enough = partial(draw, draws=draws), partial(within.enough, draws)
            draw_cases(draws.domain, draws.examples, plan.seed, offer, distinct=draws.distinct, enough=enough)
        for case in cases or ():
            sink(case_id(case), case, plan.suites[0])
    with clock.phase("waiting"):
        while any(lane.worker.outstanding for lane in lanes):
            _collect(lanes, 1.0)
    return exercised


def _pass_two(
    plan: Plan, lanes: Sequence[Lane], replayed: Mapping[str, Sequence[Replayed]], directory: Path, run: _Run
) -> Iterator[Failure]:
    """Record every way to fail: those that are known with the cases they cover, the others minimised."""

    def store(name: str, case: Case) -> str:
        file = case_file(name)
        (directory / "cases").mkdir(exist_ok=True)
        save(case, directory / file)
        return file

    for lane in lanes:
        for op in plan.ops:
            for failure in chain(
                known_failures(replayed[lane.name], lane, op, store),
                failures(lane, op, plan, store),
            ):
                run.write(failure)
                yield failure


def _late(plan: Plan, began: float) -> bool:
    return plan.time_budget is not None and time.monotonic() - began > plan.time_budget


def _pairwise(lanes: Sequence[Lane]) -> dict[str, tuple[int, int]]:
    """Return the pairwise coverage of the cases, the same for every lane."""
    coverage = Coverage()
    for subject in lanes[0].subjects.values() if lanes else ():
        coverage.add(subject.step.op, subject.features)
    return coverage.pairs()


def _collect(lanes: Sequence[Lane], timeout: float) -> None:
    wait([lane.worker for lane in lanes], timeout)
    for lane in lanes:
        lane.collect()


def _take_over(record: Record, lanes: Sequence[Lane]) -> None:
    if isinstance(record, CaseRecord):
        for lane in (lane for lane in lanes if lane.name == record.backend):
            blame = next((c for c in all_binding(record.op, lane.terms) if c.id == record.blame), None)
            known = Verdict(
                outcome=record.outcome, clauses=record.clauses, blame=blame, detail=record.detail, error=record.error
            )
            lane.resume(record, known)
