"""Sentences, written by people, on why findings are what they are."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from conformance.report.error import ReportError, content


class Explanation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a person found out about one finding of some ``backends``.

    ``cause`` is the sentence that the report gives the finding (``findings.Finding``), which names no case: the next
    run may show it by another one. ``owner`` answers for the sentence until the end of the day ``expiry``.
    """

    backends: Annotated[tuple[str, ...], Meta(min_length=1)]
    cause: Annotated[str, Meta(pattern=r"\S")]
    sentence: Annotated[str, Meta(pattern=r"\S")]
    owner: Annotated[str, Meta(pattern=r"\S")]
    expiry: date
    link: str | None = None

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a link that is no web address: it would run in the reader's browser."""
        if self.link is not None and not self.link.startswith(("https://", "http://")):
            raise ValueError(f"link {self.link!r} must begin with https:// or http://")


def read_explanations(path: Path, today: date | None = None) -> tuple[Explanation, ...]:
    """Return the explanations in a JSON file.

    Raise ``ReportError`` where it is malformed, where two explain one cause of a backend, and for one whose day is over
    (UTC, where no ``today`` is given).
    """
    try:
        found = msgspec.json.decode(content(path), type=tuple[Explanation, ...])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReportError(f"{path} is no list of explanations: {error}") from None
    _check(path, found, today or datetime.now(UTC).date())
    return found


def _check(path: Path, found: Sequence[Explanation], today: date) -> None:
    known: set[tuple[str, str]] = set()
    for number, one in enumerate(found, 1):
        where = f"{path}: explanation {number} ({', '.join(one.backends)}: {one.cause})"
        if one.expiry < today:
            until = one.expiry.isoformat()
            raise ReportError(f"{where} expired on {until}; see whether it still holds, and ask {one.owner} for a day")
        twice = [backend for backend in one.backends if (backend, one.cause) in known]
        if twice:
            raise ReportError(f"{where}: this cause of {twice[0]} is explained before; remove one of the two")
        known |= {(backend, one.cause) for backend in one.backends}
