"""Adding a run to a history."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from conformance.cases.escapes import printable
from conformance.history.differences import distribution
from conformance.history.error import HistoryError, UnfinishedError
from conformance.history.no_collections import no_collections
from conformance.history.outline import BackendOutline, Outline
from conformance.history.store.beside import ReportedVerdict, measurements, texts, verdicts
from conformance.history.store.cells import cells
from conformance.history.store.intervals import CaseResult, insert

Added = Literal["added", "already there"]

DRIVERS: Final = ("platform", "driver", "device", "devices", "library", "version", "runtime")
"""What descriptions call the driver, the library behind a framework, and its devices."""

AT_ONCE: Final = 500
"""Names in one question; SQLite takes 999 in versions from before 2020."""


def add(connection: sqlite3.Connection, run: Outline, *, incomplete: bool = False) -> Added:
    """Add a run; one that is there already changes nothing.

    Raise ``UnfinishedError`` for a run without a footer, unless ``incomplete`` ones are wanted, and ``HistoryError``
    where the history has another log under the same id.
    """
    there = connection.execute("SELECT log, folder FROM runs WHERE id = ?", (run.id,)).fetchone()
    if there is not None:
        if there[0] == run.digest:
            return "already there"
        raise HistoryError(
            f"{run.path}: the history has run {run.id} with another log, of the folder {there[1]}; two logs of one run "
            "are no history: make it again from the right one"
        )
    if run.foot is None and not incomplete:
        raise UnfinishedError(
            f"{run.path} has no footer: the run never ended; go on with `conformance run --resume`, or add it as it is "
            "with --incomplete"
        )
    number = _run(connection, run)
    rows = list(cells(run.seen))
    _judged(connection, run, number, verdicts(run, rows))
    connection.executemany(_into("cells", 10), ((number, *row) for row in rows))
    connection.executemany(_into("findings", 12), ((number, *row) for row in _findings(run)))
    connection.executemany(_into("texts", 4), texts(run))
    connection.executemany(_into("measurements", 7), ((number, *row) for row in measurements(run)))
    with no_collections():
        _cases(connection, run, number)
    return "added"


def _into(table: str, columns: int) -> str:
    """Return what inserts rows; of what is there already and cannot change the first stays."""
    return f"INSERT OR IGNORE INTO {table} VALUES ({_marks(columns)})"  # noqa: S608 - names of our own tables


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _run(connection: sqlite3.Connection, run: Outline) -> int:
    head, foot = run.head, run.foot
    values = (
        run.id, printable(run.name), head.started, foot.finished if foot else None, head.spec_digest,
        head.reference_digest,
        ",".join(head.suites), ",".join(head.ops), head.seed, head.profile, head.examples, run.why_incomplete,
        machine_of(head.environment), _json(head.environment), run.digest,
    )  # fmt: skip
    made = connection.execute(_into("runs", len(values) + 1), (None, *values))
    assert made.lastrowid is not None
    return made.lastrowid


def machine_of(environment: Mapping[str, str]) -> str:
    """Return the machine of an environment in words."""
    named = [environment.get(name, "") for name in ("processor", "machine", "system")]
    cores = environment.get("cores")
    return ", ".join([*filter(None, named), *([f"{cores} cores"] if cores else [])])


def _judged(connection: sqlite3.Connection, run: Outline, number: int, said: Mapping[str, ReportedVerdict]) -> None:
    for name, entry in run.entries.items():
        verdict = said[name]
        seconds = run.foot.seconds_by_backend.get(name, 0.0) if run.foot else 0.0
        values = (
            number, name, verdict.verdict, verdict.title, verdict.held, verdict.total, *_versions(entry),
            _json(entry.description), _digest(entry.claims),
            _digest([entry.guarantees, entry.follows, entry.number_model]), seconds,
        )  # fmt: skip
        connection.execute(_into("judged", len(values)), values)


def _versions(entry: BackendOutline) -> tuple[str, str]:
    """Return the packages and the driver of a backend, in words."""
    said = entry.description.items()
    packages = ", ".join(f"{name} {value}" for name, value in said if distribution(name))
    return packages, ", ".join(value for name, value in said if name.lower() in DRIVERS)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _digest(value: Any) -> str:
    return hashlib.sha256(_json(value).encode()).hexdigest()[:16]


def _findings(run: Outline) -> Iterable[tuple[Any, ...]]:
    for way in run.ways:
        yield (
            way.backend, way.op, way.clause, way.outcome, way.requirement, way.case, way.file, way.detail,
            int(way.minimal), len(way.explains), int(way.known is not None),
        )  # fmt: skip
    for one in run.sequences:
        last = one.cases[-1] if one.cases else ""
        yield one.backend, one.op, one.clause, one.outcome, "must", last, "", "", 0, len(one.explains), 0


def _cases(connection: sqlite3.Connection, run: Outline, number: int) -> None:
    """Write what every case came to into the series of its backend."""
    seen = run.seen
    names = {case for _, case in seen}
    numbers = _numbers(connection, names)
    connection.executemany(
        _into("cases", 7),
        (
            (None, one.case, one.op, one.suite, one.dtype, one.world, one.origin)
            for one in seen.values()
            if one.case not in numbers
        ),
    )
    numbers |= _numbers(connection, names - numbers.keys())
    came: dict[str, dict[int, CaseResult]] = {name: {} for name in run.entries}
    for (backend, case), one in seen.items():
        state = (one.outcome, one.blame, one.requirement, one.expected.state if one.expected else None)
        came[backend][numbers[case]] = CaseResult(state, one.detail)
    plan = plan_of(run)
    for backend, several in came.items():
        connection.execute("INSERT OR IGNORE INTO series (backend, plan) VALUES (?, ?)", (backend, plan))
        (series,) = connection.execute(
            "SELECT series FROM series WHERE backend = ? AND plan = ?", (backend, plan)
        ).fetchone()
        connection.execute("INSERT INTO members VALUES (?, ?)", (series, number))
        insert(connection, series, number, several)


def plan_of(run: Outline) -> str:
    """Return what a run was asked for: runs of one plan and backend are a series."""
    head = run.head
    ops = _digest(list(head.ops)) if head.ops else "all"
    return f"{','.join(head.suites)}; {head.profile}, {head.examples} examples, seed {head.seed}; operations {ops}"


def _numbers(connection: sqlite3.Connection, names: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    listed = sorted(names)
    for at in range(0, len(listed), AT_ONCE):
        several = listed[at : at + AT_ONCE]
        sql = f"SELECT name, number FROM cases WHERE name IN ({_marks(len(several))})"  # noqa: S608 - marks alone
        rows = connection.execute(sql, several)
        found.update(rows)
    return found


def history_file(path: Path | None) -> Path:
    """Return where a history lies that nobody named."""
    return path or Path("runs") / "history.sqlite"
