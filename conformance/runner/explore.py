"""The one engine: draws cases, feeds every backend at once, judges, minimises, and writes the run log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.backend.silent_clauses import silence
from conformance.runner.budget import Budget
from conformance.runner.clock import Clock
from conformance.runner.deck import JudgedDeckCases
from conformance.runner.dialect import Counting
from conformance.runner.dialects import dialects, operations
from conformance.runner.known.failures import replay_known
from conformance.runner.known.file import KnownCase
from conformance.runner.log.copy import Copy
from conformance.runner.log.header import header_of, kept_of, now
from conformance.runner.log.log import Log, line_of
from conformance.runner.offering import Drawing, draw_and_offer
from conformance.runner.origins import Origins
from conformance.runner.pass_two import pass_two
from conformance.runner.plan import Plan
from conformance.runner.records.record import (
    CaseRecord,
    Covered,
    DrawnParts,
    Failure,
    Footer,
    Record,
    SequenceFailure,
)
from conformance.runner.repeats import partly, repeat
from conformance.runner.result import Result
from conformance.runner.resumption import place_failing, take_over
from conformance.runner.shown import all_drawn, exercised, never_spoken, unjudged, unshown
from conformance.runner.shrinking.search_progress import Searching
from conformance.runner.slices.joining import Joined
from conformance.runner.slices.note import write_note
from conformance.runner.timings import timings
from conformance.runner.worker.interface import Judgeable


@dataclass
class _Run:
    """The state of a run: its log, the copy that decides, and the few records that the end of the run asks for."""

    log: Log
    watch: Callable[[Record], None]
    copy: Copy
    latest: dict[tuple[str, str], CaseRecord] | None = None
    """The last record of each case, where cases are asked again: at a kilobyte each."""
    replayed: list[CaseRecord] = field(default_factory=list)
    judged: JudgedDeckCases = field(default_factory=JudgedDeckCases)
    unwritten: dict[Path, str] = field(default_factory=dict)
    """Files that could not be written, and why: the run goes on, and its end says so."""

    def write(self, record: Record) -> None:
        line = line_of(record)
        self.log.write(line)
        self.tell(record, line)

    def tell(self, record: Record, line: bytes) -> None:
        self.copy.write(line)
        self.judged.heed(record)
        if self.latest is not None and isinstance(record, CaseRecord):
            self.latest[record.backend, record.case] = record
        if isinstance(record, CaseRecord) and record.expected is not None:
            self.replayed.append(record)
        self.watch(record)


def explore(
    plan: Plan,
    workers: Mapping[str, Judgeable],
    directory: Path,
    *,
    known: Sequence[KnownCase] = (),
    resume: bool = False,
    coverage: bool = False,
    watch: Callable[[Record], None] = lambda record: None,
    searching: Callable[[Searching], None] = lambda far: None,
    drawing: Callable[[Drawing], None] = lambda far: None,
) -> Result:
    """Run ``plan`` on every worker, by name, and write ``directory/run.jsonl`` and the failing cases.

    The ``known`` failures of these workers and operations are replayed first, whatever was resumed.
    ``watch`` sees every record as it is written, ``drawing`` how far the drawing of cases is, and ``searching`` how far
    the search for smallest ones is. With ``coverage`` the interactions that the cases show are counted.
    Raise ``LogError`` when the directory holds a log already and ``resume`` is false, or holds the log of another plan.
    """
    budget, clock, note = Budget(plan), Clock(), b""
    with clock.phase("waiting"):
        header = header_of(plan, workers)
    asked = {(one.entry.backend, one.entry.case) for one in known}
    kept = kept_of(directory / "run.jsonl", header, asked, resume=resume)
    run = _Run(Log(directory / "run.jsonl", keep=kept), watch, Copy(), {} if plan.times > 1 else None)
    try:
        origins = Origins(plan.seed)
        backends = [
            BackendRun(name, worker, run.write, clock, origins=origins, stop_after=plan.stop_after)
            for name, worker in workers.items()
        ]
        counting = {name: dialect.counting() for name, dialect in dialects().items()} if coverage else {}
        if kept is None:
            run.write(header)
        for record in kept or ():
            run.tell(record, line_of(record))
        for backend in backends:
            take_over(backend, kept or ())
            # Both depend on what was asked before, of which a slice knows a part.
            backend.scope.probing = backend.refusals.excusing = plan.slice is None
        today = datetime.now(UTC).date()
        budget.fails = lambda: any(backend.records.failing.kept for backend in backends)
        replayed = {backend.name: replay_known(known, backend, plan, today, budget.late) for backend in backends}
        drawn = draw_and_offer(
            plan,
            backends,
            budget.enough,
            clock,
            origins=origins,
            counting=counting,
            drawing=partly(drawing, 0, plan.times),
            over=budget.over,
            explored_part=budget.explored,
        )
        drawn = all_drawn(drawn, kept or (), backends)
        run.write(drawn)
        repeated = repeat(plan, backends, run.latest.values(), budget.late, drawing) if run.latest is not None else {}
        if plan.slice is not None:
            note = write_note(plan, backends, directory)
        found = [
            failure
            for number, backend in enumerate(backends)
            if plan.slice is None  # the smallest cases are looked for when all slices are there
            for failure in pass_two(
                plan,
                backend,
                replayed[backend.name],
                directory,
                run.write,
                run.unwritten,
                budget.search(1 / (len(backends) - number)),
                searching,
                clock,
            )
        ]
        result = _result(plan, backends, drawn, run, found, kept, budget.spent)
        spent = timings(clock, backends, result.seconds)
        result = replace(result, coverage=_covered(plan, counting), repeated=repeated, timings=spent)
        run.write(_footer(result, backends))
    finally:
        run.log.close()
    return replace(_held(result, run), note=note)


def join(
    joined: Joined,
    workers: Mapping[str, Judgeable],
    directory: Path,
    *,
    known: Sequence[KnownCase] = (),
    watch: Callable[[Record], None] = lambda record: None,
    searching: Callable[[Searching], None] = lambda far: None,
) -> Result:
    """Write the run that slices make, and look for the smallest case of every way to fail, asking ``workers``.

    The ``known`` failures are replayed first. Raise ``LogError`` when the directory holds a log already.
    """
    plan = joined.plan
    budget = Budget(plan)
    asked = {(one.entry.backend, one.entry.case) for one in known}
    kept_of(directory / "run.jsonl", joined.header, asked, resume=False)
    run = _Run(Log(directory / "run.jsonl"), watch, Copy())
    try:
        origins = Origins(plan.seed)
        backends = [BackendRun(name, worker, run.write, origins=origins) for name, worker in workers.items()]
        records = [record for record in joined.records if (record.backend, record.case) not in asked]
        run.write(joined.header)
        for record in records:
            run.write(record)
        for backend in backends:
            take_over(backend, records, ask=False)
            backend.refusals.excusing = False  # those that count nothing are no failures any more
            place_failing(backend, plan)
            backend.seconds += joined.seconds.get(backend.name, 0.0)
        today = datetime.now(UTC).date()
        replayed = {backend.name: replay_known(known, backend, plan, today, budget.late) for backend in backends}
        drawn = all_drawn(joined.drawn, (), backends)
        run.write(drawn)
        found = [
            failure
            for backend in backends
            for failure in pass_two(
                plan, backend, replayed[backend.name], directory, run.write, run.unwritten, budget.search(), searching
            )
        ]
        result = _result(plan, backends, drawn, run, found, records[: joined.read], budget.spent)
        run.write(_footer(result, backends))
    finally:
        run.log.close()
    return _held(result, run)


def _held(result: Result, run: _Run) -> Result:
    """Return a result with what its files are to hold."""
    return replace(
        result, records=run.copy, digest=run.log.digest, length=run.log.length, unwritten=dict(run.unwritten)
    )


def _result(
    plan: Plan,
    backends: Sequence[BackendRun],
    drawn: DrawnParts,
    run: _Run,
    found: Sequence[Failure | SequenceFailure],
    kept: Sequence[Record] | None,
    seconds: float,
) -> Result:
    ways = [failure for failure in found if isinstance(failure, Failure)]
    explained = {(failure.backend, case) for failure in found for case in failure.explains}
    return Result(
        counts={backend.name: backend.records.tally.outcomes for backend in backends if backend.records.tally.outcomes},
        failures=tuple(failure for failure in ways if failure.known is None),
        never=never_spoken(plan, drawn, [backend.scope.claims for backend in backends]),
        seconds=seconds,
        known=tuple(failure for failure in ways if failure.known is not None),
        replayed=tuple(run.replayed),
        unexplained=tuple(record for backend in backends for record in _unexplained(backend, explained)),
        silent={backend.name: silence(plan, backend, drawn.exercised) for backend in backends},
        sequences=tuple(failure for failure in found if isinstance(failure, SequenceFailure)),
        unrepeated={backend.name: count for backend in backends if (count := _once(backend, explained))},
        owed=tuple(first for backend in backends for first in backend.records.tally.firsts.values()),
        unjudged={backend.name: unjudged(plan, backend) for backend in backends},
        unshown={backend.name: unshown(plan, backend) for backend in backends},
        undrawn=drawn.undrawn,
        resumed=sum(isinstance(record, CaseRecord) and record.outcome != "not_run" for record in kept or ()),
        asked_again=sum(backend.earlier.compared for backend in backends),
        differing=tuple(record for backend in backends for record in backend.earlier.differing),
        # What a part of the cases can see nobody asks, and it takes as long as judging the part.
        power={backend.name: run.judged.power(backend) for backend in backends if plan.slice is None},
        exercised={backend.name: exercised(plan, backend) for backend in backends},
        companies={backend.name: came for backend in backends if (came := backend.records.tally.companies)},
    )


def _unexplained(backend: BackendRun, explained: AbstractSet[tuple[str, str]]) -> Iterator[CaseRecord]:
    """Yield the failing cases that no smallest case stands for."""
    for name, failed in backend.failures.found.kept.items():
        if failed.verdict.blame is not None and not failed.record.expected and (backend.name, name) not in explained:
            yield failed.record


def _once(backend: BackendRun, explained: AbstractSet[tuple[str, str]]) -> int:
    """Return how many cases failed once after others and passed alone, without anything that explains it."""
    return sum(
        failed.record.unrepeated is not None and (backend.name, name) not in explained
        for name, failed in backend.failures.found.kept.items()
    )


def _footer(result: Result, backends: Sequence[BackendRun]) -> Footer:
    return Footer(
        finished=now(),
        seconds=round(result.seconds, 3),
        counts={name: dict(counts) for name, counts in result.counts.items()},
        seconds_by_backend={backend.name: round(backend.seconds, 3) for backend in backends},
        clauses_never_exercised=result.never,
        silent=dict(result.silent),
        coverage=dict(result.coverage),
        unrepeated=dict(result.unrepeated),
        undrawn=result.undrawn,
        unjudged={name: ops for name, ops in result.unjudged.items() if ops},
        unshown={name: ops for name, ops in result.unshown.items() if ops},
        resumed=result.resumed,
        asked_again=result.asked_again,
        differing=len(result.differing),
        power=dict(result.power),
        exercised=dict(result.exercised),
        repeated=dict(result.repeated),
        companies=dict(result.companies),
    )


def _covered(plan: Plan, counting: Mapping[str, Counting[Any]]) -> dict[str, Covered]:
    """Return the interaction coverage of the cases, of each dialect that any were drawn of."""
    asked = {operations()[op].name for op in plan.ops}
    return {
        name: covered
        for dialect, counted in counting.items()
        if dialect in asked
        for name, covered in counted.measured().items()
    }
