"""The report as JSON, for machines: all that the page has, but counts by dtype and the case files, which lie beside.

A cell that is not listed was not run: nothing else is known of it, and there are as many as of those that passed.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from conformance.report.error import ReportError
from conformance.report.summary import Report


def as_json(report: Report) -> str:
    """Return the report as JSON on one line, which begins with its mark."""
    cells = tuple(replace(cell, by_dtype={}) for cell in report.cells if cell.state != "not_run")
    buckets = tuple(replace(bucket, example=replace(bucket.example, source=None)) for bucket in report.buckets)
    return msgspec.json.encode(replace(report, cells=cells, buckets=buckets)).decode() + "\n"


def parse_json(content: bytes) -> Report:
    """Return the report in ``content``; raise ``ReportError`` when it is none."""
    try:
        return msgspec.json.decode(content, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReportError(f"this is no report: {error}") from None
