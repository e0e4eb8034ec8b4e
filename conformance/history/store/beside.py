"""What lies beside the log of a run and belongs to its history: its report, failing cases, scripts, measurements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from conformance.history.outline import Outline
from conformance.history.store.cells import cells
from conformance.report.failures.findings import SCRIPTS

REPORT: Final = "report.json"
BENCH: Final = "bench.json"
"""What ``conformance bench collectives --json`` printed, measured with the run."""

LARGEST: Final = 64 << 10
"""Bytes of a case or script that a history keeps: smallest cases have some hundred."""


class Said(NamedTuple):
    """The verdict on a backend, its title, and how many of its *must* clauses hold, where a report counted them."""

    verdict: str
    title: str
    held: int | None = None
    total: int | None = None


class _Clauses(msgspec.Struct):
    held: int = 0
    broken: int = 0
    shadowed: int = 0
    unsupported: int = 0
    not_run: int = 0


class _Summary(msgspec.Struct):
    name: str
    verdict: str
    title: str
    must: _Clauses


class _Run(msgspec.Struct):
    started: str


class _Report(msgspec.Struct):
    backends: tuple[_Summary, ...]
    runs: tuple[_Run, ...] = ()


def verdicts(run: Outline) -> dict[str, Said]:
    """Return the verdict on each backend: the report's that lies beside the log, or what the records alone show."""
    found = {name: _shown(run, name) for name in run.entries}
    try:
        report = msgspec.json.decode((run.path.parent / REPORT).read_bytes(), type=_Report)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return found
    if [one.started for one in report.runs] != [run.head.started]:
        return found  # it is of other runs
    for one in report.backends:
        if one.name in found:
            held = one.must
            total = held.held + held.broken + held.shadowed + held.unsupported + held.not_run
            found[one.name] = Said(one.verdict, one.title, held.held, total)
    return found


def _shown(run: Outline, name: str) -> Said:
    """Return what the records alone show of a backend: whether every clause was shown to hold they do not."""
    rows = [row for row in cells(run.seen) if row[0] == name]
    must, known = (sum(row[at] for row in rows) for at in (3, 5))
    if must or known:
        return Said("not_conformant", "Not conformant" if must else "Not conformant, known failures only")
    if run.why_incomplete is not None or any(row[7] for row in rows):
        return Said("incomplete", "Incomplete run")
    return Said("partial", "Nothing fails in what was asked for") if rows else Said("inconclusive", "Inconclusive")


def texts(run: Outline) -> Iterator[tuple[str, str, str, str]]:
    """Yield the stored case of every way to fail, and the script that shows it: case, kind, backend, text."""
    folder = run.path.parent
    for way in run.ways:
        if not way.file or Path(way.file).is_absolute() or ".." in Path(way.file).parts:
            continue
        script = f"{SCRIPTS}/{way.backend}-{Path(way.file).stem}.py"
        for kind, file, backend in (("case", way.file, ""), ("script", script, way.backend)):
            text = _text(folder / file)
            if text is not None:
                yield way.case, kind, backend, text


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8") if path.is_file() and path.stat().st_size <= LARGEST else None
    except (OSError, UnicodeDecodeError):
        return None


class _Row(msgspec.Struct):
    backend: str
    op: str
    size: int
    time_us: float | None = None
    least_us: float | None = None
    error: str = ""


class _Measured(msgspec.Struct):
    ranks: int
    rows: tuple[_Row, ...]


def measurements(run: Outline) -> Iterator[tuple[Any, ...]]:
    """Yield what was measured with the run: backend, operation, bytes, ranks, median and least microseconds."""
    try:
        found = msgspec.json.decode((run.path.parent / BENCH).read_bytes(), type=_Measured)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return
    for row in found.rows:
        if row.time_us is not None and not row.error:
            yield row.backend, row.op, row.size, found.ranks, row.time_us, row.least_us or row.time_us
