"""The same cases asked again: in the order and the company of the first time, each time of fresh processes.

A case that comes to another outcome is flaky: it has neither passed nor failed. One that comes to the same outcome by
another answer is not: where its clauses leave several values, any of them may come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from conformance.judging.clause import Outcome
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.backend.case_record import flaky_record
from conformance.runner.offering import Drawing, draw_and_offer
from conformance.runner.origins import Origins
from conformance.runner.plan import Plan
from conformance.runner.records.origin import origin_of
from conformance.runner.records.record import CaseRecord
from conformance.runner.records.repeated import NAMED, Repeated


@dataclass
class Answers:
    """What one case came to each time: outcomes among other cases, and digests of what was observed."""

    outcomes: list[Outcome] = field(default_factory=list)
    digests: set[str] = field(default_factory=set)
    told: CaseRecord | None = None
    """The first record that says what was wrong."""

    def add(self, record: CaseRecord) -> None:
        """Take a record: what the case came to among others, be it that it was asked alone after that."""
        self.outcomes.append(record.unrepeated or record.outcome)
        if record.observation is not None:
            self.digests.add(record.observation)
        if self.told is None and (record.detail or record.note):
            self.told = record

    @property
    def flaky(self) -> bool:
        """Return whether it came to different outcomes."""
        return len(set(self.outcomes)) > 1


class Repeats:
    """The cases of one backend, by name, and what they came to each time.

    ``replayed`` are known failures, which are run on their own; of those that an earlier run found to be flaky nothing
    more is asked.
    """

    def __init__(self, times: int, records: Iterable[CaseRecord]) -> None:
        """Begin with the ``records`` of the first of so many times."""
        self.times = times
        self.first = {record.case: record for record in records}
        self.replayed = [record.case for record in self.first.values() if record.expected is not None]
        self.known = sum(record.outcome == "flaky" for record in self.first.values())
        self.answers = {
            record.case: Answers() for record in self.first.values() if record.expected is None and _asked(record)
        }
        self.last: dict[str, CaseRecord] = {}
        for name in self.answers:
            self.answers[name].add(self.first[name])

    def begin(self) -> None:
        """Begin another time."""
        self.last = {}

    def write(self, record: CaseRecord) -> None:
        """Take a record of this time; of two of one case the later one holds."""
        if record.case in self.answers:
            self.last[record.case] = record

    def end(self) -> None:
        """Count what this time came to."""
        for name, record in self.last.items():
            if _asked(record):
                self.answers[name].add(record)
        self.last = {}

    def flaky(self) -> Iterator[CaseRecord]:
        """Yield a record of each case that came to different outcomes, to be written in place of the first."""
        for name, each in self.answers.items():
            if each.flaky:
                yield flaky_record(each.told or self.first[name], Counter(each.outcomes))

    def told(self) -> Repeated:
        """Return what it all came to."""
        whole = sum(len(each.outcomes) == self.times for each in self.answers.values())
        varying = [name for name, each in self.answers.items() if len(each.digests) > 1 and not each.flaky]
        return Repeated(
            times=self.times,
            cases=whole,
            fewer=len(self.answers) - whole,
            flaky=self.known + sum(each.flaky for each in self.answers.values()),
            varying=len(varying),
            named=tuple(varying[:NAMED]),
        )


def _asked(record: CaseRecord) -> bool:
    """Return whether the backend was asked: not about what lies outside its claims, and has no answer."""
    return record.outcome not in ("not_run", "flaky") and (
        record.outcome != "unsupported" or record.observation is not None
    )


def repeat(
    plan: Plan,
    backends: Sequence[BackendRun],
    records: Iterable[CaseRecord],
    late: Callable[[], bool],
    drawing: Callable[[Drawing], None],
) -> dict[str, Repeated]:
    """Ask all that the plan draws as often again as it says, until it is ``late``, and write which cases are flaky.

    ``records`` are those of the first time, one of each case and backend.
    """
    mine: dict[str, list[CaseRecord]] = {backend.name: [] for backend in backends}
    for record in records:
        mine[record.backend].append(record)
    repeats = {name: Repeats(plan.times, found) for name, found in mine.items()}
    asked = list(backends)
    if plan.exploration is not None:  # as many draws behind the deck as there was time for at first
        drawn = (sum(origin_of(one.origin or "") is not None for one in found) for found in mine.values())
        plan = replace(plan, choices=max(drawn, default=0))
    for number in range(1, plan.times):
        if late():
            break
        origins = Origins(plan.seed)
        asked = [_anew(backend, plan, repeats[backend.name], origins) for backend in asked]
        draw_and_offer(plan, asked, late, origins=origins, drawing=partly(drawing, number, plan.times))
        for backend, one in zip(backends, asked, strict=True):
            repeats[one.name].end()
            backend.seconds += one.seconds
    for backend in backends:
        for record in repeats[backend.name].flaky():
            backend.failures.settle_flaky(record, repeats[backend.name].first[record.case])
    return {name: each.told() for name, each in repeats.items()}


def partly(drawing: Callable[[Drawing], None], number: int, times: int) -> Callable[[Drawing], None]:
    """Return what tells ``drawing`` how far all ``times`` are, during the one with this number from 0."""
    return lambda far: drawing(Drawing((number + far.part) / times, far.offered))


def _anew(backend: BackendRun, plan: Plan, repeats: Repeats, origins: Origins) -> BackendRun:
    """Return a run of a backend that knows nothing of the one before it, and asks processes that answered nothing."""
    for worker in {backend.worker, *backend.dialogues.workers}:
        worker.renew()
    repeats.begin()
    one = BackendRun(backend.name, backend.worker, repeats.write, origins=origins, stop_after=plan.stop_after)
    for name in repeats.replayed:
        one.earlier.add(name)
    return one
