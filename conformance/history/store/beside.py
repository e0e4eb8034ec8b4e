"""What lies beside the log of a run and belongs to its history: its report, failing cases, scripts, measurements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from conformance.cases.case_error import CaseError
from conformance.cases.tensor.stored import read_document
from conformance.cases.whole_file import read_whole
from conformance.history.outline import Outline
from conformance.history.store.cells import CellRow
from conformance.report.failures.case_example import inside
from conformance.report.failures.findings import SCRIPTS

T = TypeVar("T")

REPORT: Final = "report.json"
BENCH: Final = "bench.json"
"""What ``conformance bench collectives --json`` printed, measured with the run."""

LARGEST: Final = 64 << 10
"""Bytes of a case or script that a history keeps: smallest cases have some hundred."""


BELIEVED: Final = {"not_conformant": ("not_conformant",), "incomplete": ("not_conformant", "incomplete")}
"""The verdicts of a report that are believed where the records alone show the first word: none that is better."""


class ReportedVerdict(NamedTuple):
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


def verdicts(run: Outline, rows: Sequence[CellRow]) -> dict[str, ReportedVerdict]:
    """Return the verdict on each backend: the report's that lies beside the log, or what the cells of the run show.

    A report may not say better of a backend than its records: of one with failures of a *must* it is not believed.
    """
    found = {name: _shown(run, [row for row in rows if row[0] == name]) for name in run.entries}
    report = _read(run, REPORT, _Report)
    if report is None:
        return found
    if [one.started for one in report.runs] != [run.head.started]:
        return found  # it is of other runs
    for one in report.backends:
        if one.name in found and one.verdict in BELIEVED.get(found[one.name].verdict, (one.verdict,)):
            held = one.must
            total = held.held + held.broken + held.shadowed + held.unsupported + held.not_run
            found[one.name] = ReportedVerdict(one.verdict, one.title, held.held, total)
    return found


def _shown(run: Outline, rows: Sequence[CellRow]) -> ReportedVerdict:
    """Return what the records alone show of a backend: whether every clause was shown to hold they do not."""
    must, known = (sum(row[at] for row in rows) for at in (3, 5))
    if must or known:
        return ReportedVerdict("not_conformant", "Not conformant" if must else "Not conformant, known failures only")
    if run.why_incomplete is not None or any(row[7] for row in rows):
        return ReportedVerdict("incomplete", "Incomplete run")
    return (
        ReportedVerdict("partial", "Nothing fails in what was asked for")
        if rows
        else ReportedVerdict("inconclusive", "Inconclusive")
    )


def texts(run: Outline) -> Iterator[tuple[str, str, str, str]]:
    """Yield the stored case of every way to fail, and the script that shows it: case, kind, backend, text."""
    folder = run.path.parent
    for way in run.ways:
        if not way.file:
            continue
        script = f"{SCRIPTS}/{way.backend}-{Path(way.file).stem}.py"
        for kind, file, backend in (("case", way.file, ""), ("script", script, way.backend)):
            text = _text(folder, file)
            if text is not None:
                yield way.case, kind, backend, text


def _text(folder: Path, file: str) -> str | None:
    """Return the text of a file in the folder of a run; a link may name another file of the reader, which is none."""
    path = inside(folder, file)
    try:
        return read_whole(path, LARGEST).decode() if path is not None else None
    except (CaseError, UnicodeDecodeError):
        return None


def _read(run: Outline, name: str, kind: type[T]) -> T | None:
    """Return what a JSON file beside a log says; ``None`` where there is none, or none that is ``kind``."""
    try:
        return msgspec.json.decode(read_document(run.path.parent / name), type=kind)
    except (CaseError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
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
    found = _read(run, BENCH, _Measured)
    if found is None:
        return
    for row in found.rows:
        if row.time_us is not None and not row.error:
            yield row.backend, row.op, row.size, found.ranks, row.time_us, row.least_us or row.time_us
