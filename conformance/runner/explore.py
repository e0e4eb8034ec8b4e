"""The one engine: draws cases, feeds every backend at once, judges, minimises, and writes the run log."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from conformance.cases.case import Case
from conformance.cases.codec import save
from conformance.runner.backend_run import Lane
from conformance.runner.coverage.coverage import Coverage
from conformance.runner.coverage.power import Power, power
from conformance.runner.coverage.silent import silence
from conformance.runner.known.file import KnownCase
from conformance.runner.known.known import Replayed, known_failures, replay_known
from conformance.runner.log.header import header_of, kept_of, now
from conformance.runner.log.log import CaseRecord, Covered, Failure, Footer, Log, Record, SequenceFailure, case_file
from conformance.runner.log.resuming import take_over
from conformance.runner.outcomes import UNJUDGED
from conformance.runner.pass_one import Drawn, lateness, pass_one
from conformance.runner.plan import Plan
from conformance.runner.result import Result
from conformance.runner.shrinking.confirming import confirm, sequences
from conformance.runner.shrinking.minimise import failures
from conformance.runner.worker.judgeable import Judgeable
from conformance.specs import OPS


@dataclass
class _Run:
    """The state of a run: what was written so far. Of two records of one case the later one holds."""

    log: Log
    watch: Callable[[Record], None]
    records: list[Record] = field(default_factory=list)
    cases: dict[tuple[str, str], CaseRecord] = field(default_factory=dict)

    def write(self, record: Record) -> None:
        self.log.write(record)
        self.tell(record)

    def tell(self, record: Record) -> None:
        self.records.append(record)
        if isinstance(record, CaseRecord):
            self.cases[record.backend, record.case] = record
        self.watch(record)

    @property
    def counts(self) -> dict[str, Counter[str]]:
        found: dict[str, Counter[str]] = {}
        for record in self.cases.values():
            found.setdefault(record.backend, Counter())[record.outcome] += 1
        return found


def explore(
    plan: Plan,
    workers: Mapping[str, Judgeable],
    directory: Path,
    *,
    known: Sequence[KnownCase] = (),
    resume: bool = False,
    coverage: bool = False,
    watch: Callable[[Record], None] = lambda record: None,
) -> Result:
    """Run ``plan`` on every worker, by name, and write ``directory/run.jsonl`` and the failing cases.

    The ``known`` failures of these workers and operations are replayed first, whatever was resumed.
    ``watch`` sees every record as it is written. With ``coverage`` the interactions that the cases show are counted.
    Raise ``LogError`` when the directory holds a log already and ``resume`` is false, or holds the log of another plan.
    """
    began = time.monotonic()
    late = lateness(plan, began)
    header = header_of(plan, workers)
    kept = kept_of(directory / "run.jsonl", header, known, resume=resume)
    run = _Run(Log(directory / "run.jsonl", keep=kept), watch)
    lanes = [Lane(name, worker, run.write) for name, worker in workers.items()]
    if kept is None:
        run.write(header)
    for record in kept or ():
        run.tell(record)
    for lane in lanes:
        take_over(lane, kept or ())
    try:
        today = datetime.now(UTC).date()
        replayed = {lane.name: replay_known(known, lane, plan, today, late) for lane in lanes}
        drawn = pass_one(plan, lanes, late)
        found = [
            failure for lane in lanes for failure in _pass_two(plan, lane, replayed[lane.name], directory, run, late)
        ]
        result = _result(plan, lanes, drawn, run, found, kept, time.monotonic() - began)
        result = replace(result, coverage=_covered(lanes) if coverage else {})
        run.write(_footer(result, lanes))
    finally:
        run.log.close()
    return replace(result, records=tuple(run.records))


def _pass_two(
    plan: Plan, lane: Lane, replayed: Sequence[Replayed], directory: Path, run: _Run, late: Callable[[], bool]
) -> Iterator[Failure | SequenceFailure]:
    """Record every way to fail: known ones with the cases they cover, then others minimised, then sequences."""

    def store(name: str, case: Case) -> str:
        file = case_file(name)
        (directory / "cases").mkdir(exist_ok=True)
        try:
            save(case, directory / file)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(directory / file)) from None
        return file

    def found() -> Iterator[Failure | SequenceFailure]:
        for op in plan.ops:
            yield from known_failures(replayed, lane, op, store)
        confirm(lane, late)
        for op in plan.ops:
            yield from failures(lane, op, plan, store, late)
        yield from sequences(lane, store, late)

    for failure in found():
        run.write(failure)
        yield failure


def _result(
    plan: Plan,
    lanes: Sequence[Lane],
    drawn: Drawn,
    run: _Run,
    found: Sequence[Failure | SequenceFailure],
    kept: Sequence[Record] | None,
    seconds: float,
) -> Result:
    ways = [failure for failure in found if isinstance(failure, Failure)]
    explained = {(failure.backend, case) for failure in found for case in failure.explains}
    failing = [record for record in run.cases.values() if record.blame and not record.expected]
    once = [record for record in run.cases.values() if record.unrepeated]
    named = plan.ops if len(plan.ops) < len(OPS) else ()
    return Result(
        counts=run.counts,
        failures=tuple(failure for failure in ways if failure.known is None),
        never=tuple(sorted(plan.clauses().difference(*drawn.exercised.values()))),
        seconds=seconds,
        known=tuple(failure for failure in ways if failure.known is not None),
        replayed=tuple(record for record in run.cases.values() if record.expected),
        unexplained=tuple(record for record in failing if (record.backend, record.case) not in explained),
        silent={lane.name: silence(plan, lane, drawn.exercised) for lane in lanes},
        sequences=tuple(failure for failure in found if isinstance(failure, SequenceFailure)),
        unrepeated=dict(Counter(r.backend for r in once if (r.backend, r.case) not in explained)),
        unjudged={lane.name: lane.unjudged(named) for lane in lanes},
        undrawn=drawn.undrawn,
        resumed=sum(isinstance(record, CaseRecord) for record in kept or ()),
        asked_again=sum(lane.asked_again for lane in lanes),
        differing=tuple(run.cases[lane.name, name] for lane in lanes for name in lane.differing),
        power={
            lane.name: _power(plan, drawn, [r for r in run.cases.values() if r.backend == lane.name]) for lane in lanes
        },
    )


def _power(plan: Plan, drawn: Drawn, records: Sequence[CaseRecord]) -> Power:
    """Return what the cases of one backend can see: those that came to a verdict, of all that were to be drawn."""
    count = Counter((record.suite, record.op) for record in records)
    judged = Counter((record.suite, record.op) for record in records if record.outcome not in UNJUDGED)
    for suite, op in list(count):
        if f"{suite} of {op}" in drawn.undrawn:
            count[suite, op] = max(count[suite, op], plan.of(suite, op).examples)
    parts = {place: judged[place] / number for place, number in count.items()}
    return power(examples=plan.examples, suites=plan.suites, ops=plan.ops, judged=parts)


def _footer(result: Result, lanes: Sequence[Lane]) -> Footer:
    return Footer(
        finished=now(),
        seconds=round(result.seconds, 3),
        counts={name: dict(counts) for name, counts in result.counts.items()},
        seconds_by_backend={lane.name: round(lane.seconds, 3) for lane in lanes},
        clauses_never_exercised=result.never,
        silent=dict(result.silent),
        coverage=dict(result.coverage),
        unrepeated=dict(result.unrepeated),
        undrawn=result.undrawn,
        unjudged={name: ops for name, ops in result.unjudged.items() if ops},
        resumed=result.resumed,
        asked_again=result.asked_again,
        differing=len(result.differing),
        power=dict(result.power),
    )


def _covered(lanes: Sequence[Lane]) -> dict[str, Covered]:
    """Return the interaction coverage of the cases, the same for every lane."""
    coverage = Coverage()
    for subject in lanes[0].subjects.values() if lanes else ():
        coverage.add(subject.case)
    return coverage.measured()
