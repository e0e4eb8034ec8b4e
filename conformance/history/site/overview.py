"""What the pages show, read from a history: values, and nothing that a page would have to work out."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from conformance.history.store.cells import COUNTS
from conformance.report.counts.tally import State
from conformance.report.summary import Verdict

WORDS: Final[tuple[Verdict, ...]] = ("conformant", "partial", "not_conformant", "incomplete", "inconclusive")


class RunRow(NamedTuple):
    """A run; ``run`` is its number in the history."""

    run: int
    id: str
    folder: str
    started: str
    specification: str
    reference: str
    suites: str
    seed: int
    profile: str
    examples: int
    incomplete: str | None
    machine: str
    environment: dict[str, str]


class BackendInRun(NamedTuple):
    """A backend in a run."""

    run: int
    backend: str
    verdict: Verdict
    title: str
    held: int | None
    total: int | None
    framework: str
    driver: str
    description: dict[str, str]
    declared: str
    claims: str


class OperationCell(NamedTuple):
    """The cases of one operation of a backend in one run, counted."""

    passed: int = 0
    must: int = 0
    should: int = 0
    known: int = 0
    unsupported: int = 0
    owed: int = 0
    seconds: float = 0.0

    @property
    def judged(self) -> int:
        """Return how many came to a verdict."""
        return self.passed + self.must + self.should + self.known

    @property
    def state(self) -> State:
        """Return the word that the cell is shown with."""
        if self.must:
            return "fail"
        if self.should:
            return "should_fail"
        if self.known:
            return "known"
        if self.passed:
            return "pass"
        return "unsupported" if self.unsupported else "not_run"

    @property
    def figure(self) -> str:
        """Return the numbers that the cell is shown with."""
        broken = self.must + self.should or self.known
        if broken:
            return f"{broken:,} of {self.judged:,}"
        return f"{self.judged:,}" if self.judged else ""


class FailureOverTime(NamedTuple):
    """A way to fail over time: the first and the last run that saw it, of ``runs``, and a case of the last one.

    ``open`` says that the last run of its backend saw it; ``before`` is the last run of the backend before the first.
    """

    backend: str
    op: str
    clause: str
    outcome: str
    requirement: str
    known: bool
    first: RunRow
    last: RunRow
    runs: int
    case: str
    detail: str
    open: bool
    before: RunRow | None


@dataclass(frozen=True)
class Overview:
    """All runs in the order of time, what each said of each backend, the cells, and the ways to fail."""

    runs: Sequence[RunRow]
    judged: Sequence[BackendInRun]
    cells: Mapping[tuple[int, str], Mapping[str, OperationCell]]
    found: Sequence[FailureOverTime]

    @cached_property
    def place(self) -> dict[int, int]:
        """Return the place of a run in the order of time, by its number."""
        return {one.run: at for at, one in enumerate(self.runs)}

    @cached_property
    def by_backend(self) -> dict[str, list[BackendInRun]]:
        """Return what the runs said of each backend, in the order of time; backends by name."""
        found: dict[str, list[BackendInRun]] = {}
        for one in sorted(self.judged, key=lambda one: (one.backend, self.place[one.run])):
            found.setdefault(one.backend, []).append(one)
        return found

    @cached_property
    def today(self) -> dict[str, BackendInRun]:
        """Return the last whole run of each backend, or its last one where none is whole."""
        whole = {one.run for one in self.runs if one.incomplete is None}
        return {
            name: next((one for one in reversed(several) if one.run in whole), several[-1])
            for name, several in self.by_backend.items()
        }

    @cached_property
    def ops(self) -> list[str]:
        """Return every operation of the last runs."""
        return sorted({op for one in self.today.values() for op in self.cells.get((one.run, one.backend), {})})

    def run(self, number: int) -> RunRow:
        """Return a run by its number."""
        return self.runs[self.place[number]]

    def cell(self, backend: str, op: str) -> OperationCell:
        """Return a cell of the last run of a backend."""
        return self.cells.get((self.today[backend].run, backend), {}).get(op, OperationCell())


def overview(connection: sqlite3.Connection) -> Overview:
    """Return what a history says."""
    rows = connection.execute(
        "SELECT run, id, folder, started, specification, reference, suites, seed, profile, examples, incomplete, "
        "machine, environment FROM runs ORDER BY started, id"
    )
    runs = [RunRow._make([*row[:-1], json.loads(row[-1])]) for row in rows]
    rows = connection.execute(
        "SELECT run, backend, verdict, title, must_held, must_total, framework, driver, description, declared, claims "
        "FROM judged"
    )
    judged = [
        BackendInRun(
            run, name, _verdict(verdict), title, held, total, framework, driver, json.loads(said), declared, claims
        )
        for run, name, verdict, title, held, total, framework, driver, said, declared, claims in rows
    ]
    cells: dict[tuple[int, str], dict[str, OperationCell]] = {}
    for run, backend, op, *counts in connection.execute(
        f"SELECT run, backend, op, {', '.join(COUNTS)}, seconds FROM cells ORDER BY op"  # noqa: S608 - our own columns
    ):
        cells.setdefault((run, backend), {})[op] = OperationCell(*counts)
    made = Overview(runs, judged, cells, ())
    return Overview(runs, judged, cells, _found(connection, made))


def _verdict(text: str) -> Verdict:
    return next((word for word in WORDS if word == text), "inconclusive")


def _found(connection: sqlite3.Connection, made: Overview) -> list[FailureOverTime]:
    ways: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for backend, op, clause, outcome, requirement, *rest in connection.execute(
        "SELECT backend, op, clause, outcome, requirement, run, known, name, detail FROM findings"
    ):
        ways.setdefault((backend, op, clause, outcome, requirement), []).append(tuple(rest))
    found = [_way(key, rows, made) for key, rows in ways.items()]
    grave = {"must": 0, "should": 1, "may": 2}
    return sorted(
        found, key=lambda one: (not one.open, one.known, one.backend, grave.get(one.requirement, 3), one.op, one.clause)
    )


def _way(key: tuple[str, ...], rows: list[tuple[Any, ...]], made: Overview) -> FailureOverTime:
    backend, op, clause, outcome, requirement = key
    places = sorted({made.place[run] for run, *_ in rows})
    last = next(row for row in rows if made.place[row[0]] == places[-1])
    mine = [made.place[one.run] for one in made.by_backend[backend]]
    earlier = [at for at in mine if at < places[0]]
    return FailureOverTime(
        backend, op, clause, outcome, requirement, bool(last[1]), made.runs[places[0]], made.runs[places[-1]],
        len(places), last[2], last[3], made.place[made.today[backend].run] <= places[-1],
        made.runs[earlier[-1]] if earlier else None,
    )  # fmt: skip
