"""From run folders to a written report."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from conformance.cli.expectations import explanations_in
from conformance.report import (
    UNQUALIFIED,
    Report,
    Run,
    clause_texts,
    foreign,
    read_qualification,
    read_run,
    summarise,
)
from conformance.report.counts.topics import Topic
from conformance.report.inputs.run import LOG
from conformance.report.inputs.specification import ClauseText
from conformance.runner.dialects import further_clauses
from conformance.runner.log.log import line_of
from conformance.runner.log.storage import opened, pack, packed
from conformance.runner.records.record import Record
from conformance.runner.worker.supervisor import remove
from conformance.specification.case_topics.sharded import TOPICS as OF_SHARDED
from conformance.specification.case_topics.types import TOPICS as OF_TYPES
from conformance.specification.families import document_of
from conformance.specification.sources import described
from conformance.specs import OPS, SHARED


def report_of(
    directories: Sequence[Path], *, expectations: Path | None = None, qualification: Path | None = None
) -> Report:
    """Return the report on the runs in ``directories``.

    Raise ``ReportError`` or ``KnownError`` for one that cannot be read, and for expectations that are not in order.
    """
    runs = [read_run(directory) for directory in directories]
    judged = {entry.name for run in runs for entry in run.header.backends}
    return summarise(
        runs,
        _clauses(),
        explanations=explanations_in(expectations, judged) if expectations else (),
        qualification=read_qualification(qualification) if qualification else UNQUALIFIED,
        topics=_topics(),
    )


def report_on(run: Run) -> Report:
    """Return the report on a run that has just ended."""
    return summarise([run], _clauses(), topics=_topics())


def _clauses() -> tuple[ClauseText, ...]:
    """Return the clauses of every dialect: only those of collectives are some operation's."""
    return clause_texts(OPS.values(), (*SHARED, *further_clauses().values()), described, document_of)


def _topics() -> tuple[Topic, ...]:
    """Return the names under which readers look for clauses of several operations."""
    return tuple(Topic(**topic._asdict()) for topic in (*OF_SHARDED, *OF_TYPES))


def restored(directory: Path, records: Iterable[Record], digest: str, length: int) -> bool:
    """Return whether the log in ``directory`` has the ``digest`` of the ``length`` bytes that the run wrote.

    Else it is written again, whatever lies in its place, or in that of the folder; raise ``OSError`` if it cannot.
    """
    path = directory / LOG
    if digest_of(path, length) == digest:
        return True
    if os.path.lexists(directory) and not directory.is_dir():
        directory.unlink()
    directory.mkdir(parents=True, exist_ok=True)
    for changed in (path, packed(path)):
        _cleared(changed)
    with path.open("wb") as file:
        file.writelines(map(line_of, records))
    pack(path)
    return False


def evicted(directory: Path) -> list[Path]:
    """Remove what lies in the place of a report and is none: it was put there while the run went on; return it."""
    found = list(foreign(directory))
    for path in found:
        _cleared(path)
    return found


def _cleared(path: Path) -> None:
    """Remove whatever has this name, and nothing that a link names."""
    if path.is_dir() and not path.is_symlink():
        remove(str(path))
    else:
        path.unlink(missing_ok=True)


def digest_of(path: Path, length: int) -> str:
    """Return the SHA-256 of the lines of a log, compressed or not, in hex, and nothing where they cannot be read.

    No more than ``length`` bytes and one are read: a log that was changed may have no end that is ever reached.
    """
    digest = hashlib.sha256()
    try:
        with opened(path) as file:
            left = length + 1
            while part := file.read(min(left, 1 << 20)):
                digest.update(part)
                left -= len(part)
    except (OSError, EOFError, zlib.error):
        return ""
    return digest.hexdigest()
