"""Which runs speak about the same backend, and what its cases came to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from conformance.judging.clause import Outcome, Requirement
from conformance.report.inputs.run import Run
from conformance.runner.outcomes import FAILING
from conformance.runner.records.record import BackendEntry, CaseRecord, Failure, SequenceFailure

_WORST: tuple[Outcome, ...] = (
    "crashed", "timeout", "protocol_error", "errored", "failed", "flaky", "passed", "adapter_error", "unsupported",
    "not_run",
)  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A backend in one version, judged by one specification: the distinct cases of all its runs.

    ``blamed`` has, for each failing case, the clauses that explain it and their requirements; ``known`` those of them
    that only known failures speak for. ``replayed`` are the known cases, those that are not as expected first.
    """

    label: str
    entry: BackendEntry
    runs: tuple[Run, ...]
    records: tuple[CaseRecord, ...]
    unstable: int
    failures: tuple[tuple[Run, Failure], ...]
    blamed: dict[str, dict[str, Requirement]] = field(default_factory=dict)
    known: dict[str, set[str]] = field(default_factory=dict)
    replayed: tuple[CaseRecord, ...] = ()
    sequences: tuple[tuple[Run, SequenceFailure], ...] = ()

    @property
    def seconds(self) -> float:
        """Return the seconds the runs spent on this backend."""
        return sum(_seconds(run, self.entry.name) for run in self.runs)


def columns(runs: Sequence[Run]) -> tuple[Column, ...]:
    """Return one column for each distinct backend, in the order of the runs.

    Runs share a column when name, description, claims, specification and reference agree; otherwise their
    results would be of different things, and the labels tell them apart by the run's name.
    """
    shared: dict[bytes, tuple[BackendEntry, list[Run]]] = {}
    for run in runs:
        for entry in _entries(run):
            key = msgspec.json.encode((entry, run.header.spec_digest, run.header.reference_digest), order="sorted")
            shared.setdefault(key, (entry, []))[1].append(run)
    names = Counter(entry.name for entry, _ in shared.values())
    taken: Counter[str] = Counter()
    found = []
    for entry, members in shared.values():
        label = entry.name if names[entry.name] == 1 else f"{entry.name} ({members[0].name})"
        taken[label] += 1
        found.append(_column(label if taken[label] == 1 else f"{label} #{taken[label]}", entry, tuple(members)))
    return tuple(found)


def _column(label: str, entry: BackendEntry, runs: tuple[Run, ...]) -> Column:
    by_case: dict[str, CaseRecord] = {}
    unstable: set[str] = set()
    for record in (record for run in runs for record in run.records if record.backend == entry.name):
        known = by_case.setdefault(record.case, record)
        if known.outcome != record.outcome:
            if "not_run" not in (known.outcome, record.outcome):
                unstable.add(record.case)
            by_case[record.case] = min(known, record, key=lambda one: _WORST.index(one.outcome))
    failures = tuple((run, failure) for run in runs for failure in run.failures if failure.backend == entry.name)
    records = tuple(by_case.values())
    found = [failure for _, failure in failures]
    blamed = _blamed(records, found)
    replayed = [r for run in runs for r in run.records if r.backend == entry.name and r.expected is not None]
    replayed.sort(key=lambda record: record.expected is not None and record.expected.met)
    worst: dict[str, CaseRecord] = {}
    for record in replayed:
        worst.setdefault(record.case, record)
    sequences = tuple((run, one) for run in runs for one in run.sequences if one.backend == entry.name)
    expected = tuple(worst.values())
    return Column(label, entry, runs, records, len(unstable), failures, blamed, _known(found), expected, sequences)


def _known(failures: Iterable[Failure]) -> dict[str, set[str]]:
    """Return the clauses by case that known failures are to blame for, and no new one."""
    known: defaultdict[str, set[str]] = defaultdict(set)
    new: set[tuple[str, str]] = set()
    for failure in failures:
        for case in (failure.case, *failure.explains):
            if failure.known is None:
                new.add((case, failure.clause))
            else:
                known[case].add(failure.clause)
    return {case: {clause for clause in clauses if (case, clause) not in new} for case, clauses in known.items()}


def _blamed(records: Iterable[CaseRecord], failures: Sequence[Failure]) -> dict[str, dict[str, Requirement]]:
    """Return who is to blame for each failing case: the failures that explain it, else the record's own blame."""
    found: dict[str, dict[str, Requirement]] = {}
    for failure in failures:
        for case in (failure.case, *failure.explains):
            found.setdefault(case, {})[failure.clause] = failure.requirement
    for record in records:
        if record.outcome in FAILING and record.case not in found and record.blame is not None:
            found[record.case] = {record.blame: record.requirement or "must"}
    failing = {record.case for record in records if record.outcome in FAILING}
    return {case: blamed for case, blamed in found.items() if case in failing}


def _entries(run: Run) -> tuple[BackendEntry, ...]:
    known = {entry.name for entry in run.header.backends}
    others = dict.fromkeys(record.backend for record in run.records if record.backend not in known)
    return (*run.header.backends, *(BackendEntry(name=name, description={}, claims={}) for name in others))


def _seconds(run: Run, backend: str) -> float:
    if run.footer is not None and backend in run.footer.seconds_by_backend:
        return run.footer.seconds_by_backend[backend]
    return sum(record.seconds for record in run.records if record.backend == backend)
