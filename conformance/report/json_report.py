"""The report as JSON, for machines; nothing is in the page that is not here."""

from __future__ import annotations

import msgspec

from conformance.report.error import ReportError
from conformance.report.summary import Report


def as_json(report: Report) -> str:
    """Return the report as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1).decode() + "\n"


def parse_json(content: bytes) -> Report:
    """Return the report in ``content``; raise ``ReportError`` when it is none."""
    try:
        return msgspec.json.decode(content, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ReportError(f"this is no report: {error}") from None
