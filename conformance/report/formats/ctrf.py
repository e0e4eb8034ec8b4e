"""The report as CTRF (ctrf.io), the JSON of test results that actions for pull requests and dashboards read.

A test is a clause of an operation on a backend, as in JUnit's form: a *must* to blame fails, a broken *should* passes
and says so, what is unsupported, shadowed or known to fail is skipped, and an incomplete run is a failed test. A flaky
case is a test beside them.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final

from conformance import __version__
from conformance.report.counts.tally import State
from conformance.report.formats.words import MEANINGS
from conformance.report.summary import MARK, Cell, FlakyCase, Report

STATUSES: Final[dict[State, str]] = {
    "fail": "failed",
    "should_fail": "passed",
    "differs": "passed",
    "pass": "passed",
    "known": "skipped",
    "shadowed": "skipped",
    "unsupported": "skipped",
    "not_run": "pending",
}

COUNTED: Final = ("passed", "failed", "skipped", "pending", "other")


def as_ctrf(report: Report) -> str:
    """Return the report as CTRF."""
    details = {(one.backend, one.op, one.clause): one.detail for one in reversed(report.buckets)}
    tests = [_test(cell, details.get((cell.backend, cell.op, cell.clause))) for cell in report.cells if cell.clause]
    tests += [
        {
            "name": f"{backend.label}: the run", "status": "passed" if backend.complete else "failed", "duration": 0,
            "suite": [backend.label], **({} if backend.complete else {"message": " ".join(backend.why)}),
        }
        for backend in report.backends
    ]  # fmt: skip
    tests += [_flaky(backend.label, one) for backend in report.backends for one in backend.flaky]
    counts = {status: sum(test["status"] == status for test in tests) for status in COUNTED}
    times = [_milliseconds(text) for run in report.runs for text in (run.started, run.finished) if text]
    summary = {"tests": len(tests), **counts, "start": min(times, default=0), "stop": max(times, default=0)}
    data = {
        "reportFormat": "CTRF",
        "specVersion": "1.0.0",
        "generatedBy": MARK,
        "results": {
            "tool": {"name": "mesh-conformance", "version": __version__},
            "summary": summary,
            "tests": tests,
        },
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _test(cell: Cell, detail: str | None) -> dict[str, Any]:
    status = STATUSES[cell.state]
    said: dict[str, Any] = {
        "name": f"{cell.backend}: {cell.op}: {cell.clause}",
        "status": status,
        "duration": 0,
        "rawStatus": cell.state,
        "suite": [cell.backend, cell.op],
    }
    if cell.state != "pass":
        said["message"] = f"{MEANINGS[cell.state]}{f': {detail}' if detail and cell.state != 'not_run' else ''}"
    return said


def _flaky(label: str, one: FlakyCase) -> dict[str, Any]:
    """Return a flaky case as a test of its own, which has neither passed nor failed."""
    return {
        "name": f"{label}: {one.op}: {one.case}", "status": "other", "duration": 0, "rawStatus": "flaky", "flaky": True,
        "suite": [label, one.op], "message": one.detail,
    }  # fmt: skip


def _milliseconds(text: str) -> int:
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):  # a log that was handed in may have any text for its times
        return 0
