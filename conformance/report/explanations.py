"""One sentence, written by a person, on why a bucket of failures is what it is."""

from __future__ import annotations

from pathlib import Path

import msgspec

from conformance.report.error import ReportError, content


class Explanation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person found out about the failures with this backend, operation, blamed clause and outcome."""

    backend: str
    op: str
    outcome: str
    sentence: str
    clause: str | None = None
    link: str | None = None

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a link that is no web address: it would run in the reader's browser."""
        if self.link is not None and not self.link.startswith(("https://", "http://")):
            raise ValueError(f"link {self.link!r} must begin with https:// or http://")


def read_explanations(path: Path) -> tuple[Explanation, ...]:
    """Return the explanations in a JSON file; raise ``ReportError`` when it is malformed."""
    try:
        return msgspec.json.decode(content(path), type=tuple[Explanation, ...])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReportError(f"{path} is no list of explanations: {error}") from None
