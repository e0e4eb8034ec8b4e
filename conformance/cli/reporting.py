"""From run folders to a written report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.report import (
    UNQUALIFIED,
    Report,
    clause_texts,
    read_explanations,
    read_qualification,
    read_run,
    summarise,
    write_all,
)
from conformance.specs import OPS, SHARED


def report_of(
    directories: Sequence[Path], *, explanations: Path | None = None, qualification: Path | None = None
) -> Report:
    """Return the report on the runs in ``directories``; raise ``ReportError`` for one that cannot be read."""
    return summarise(
        [read_run(directory) for directory in directories],
        clause_texts(OPS.values(), SHARED),
        explanations=read_explanations(explanations) if explanations else (),
        qualification=read_qualification(qualification) if qualification else UNQUALIFIED,
    )


def write_report(directories: Sequence[Path], folder: Path) -> Path:
    """Write every form of the report on ``directories`` into ``folder`` and return the path of its page."""
    return write_all(report_of(directories), folder)[0]
