"""One sentence, written by a person, on why a bucket of failures is what it is."""

from __future__ import annotations

from pathlib import Path

import msgspec

from conformance.report.error import ReportError, content


class Explanation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person found out about one way to fail: of a backend and operation, by clause, outcome and error class.

    ``case`` is the id of the case that it was written for. It is shown only where that one is among those of the way to
    fail: what was found out of one case is not said of others that happen to break the same clause.
    """

    backend: str
    op: str
    outcome: str
    case: str
    sentence: str
    error: str | None = None
    clause: str | None = None
    link: str | None = None

    @property
    def key(self) -> tuple[str, str, str | None, str, str | None]:
        """Return what it shares with the failures that it may be about."""
        return self.backend, self.op, self.clause, self.outcome, self.error

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
