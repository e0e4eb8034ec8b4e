"""Sentences, written by people, on why findings are what they are."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from conformance.report.error import ReportError, content

PATIENCE: Final = 2.0
"""Seconds that one expression may be looked for in one text; those of our own take microseconds."""

IN_ALL: Final = 10.0
"""Seconds that the expressions of a file may take to be read, and all searches of a report together."""

LARGEST: Final = 1 << 20
"""Bytes of a file of explanations: each is held against each finding, and ours has 12 KiB."""

LONGEST: Final = 4096
"""Characters of an expression."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a person found out about findings of some ``backends`` that have one cause.

    ``causes`` are the sentences that the report gives the findings (``findings.Finding``), which name no case: the next
    run may show them by other ones. ``shows`` are regular expressions, each of which every case of such a finding has
    in its id, its program with the inputs, or what was seen (``shown``): cases of another kind are a finding of their
    own, which this does not explain. ``owner`` answers for the sentence until the end of the day ``expiry``. ``script``
    is a program of the framework alone that somebody wrote, in the folder ``scripts`` of the report. One that is
    ``rare`` runs may not show though it is there, by their timing or by what they ask, so that none that shows it not
    makes it stale.
    """

    backends: Annotated[tuple[str, ...], Meta(min_length=1)]
    causes: Annotated[tuple[Annotated[str, Meta(pattern=r"\S")], ...], Meta(min_length=1)]
    sentence: Annotated[str, Meta(pattern=r"\S")]
    owner: Annotated[str, Meta(pattern=r"\S")]
    expiry: date
    link: str | None = None
    script: Annotated[str, Meta(pattern=r"^[\w+-][\w.+-]*\.py$")] | None = None
    shows: tuple[Annotated[str, Meta(max_length=LONGEST)], ...] = ()
    rare: bool = False

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a link that is no web address, which would run in the reader's browser.

        The same for a text of ``shows`` that is no regular expression.
        """
        for pattern in self.shows:
            try:
                re.compile(pattern)
            except (re.error, OverflowError, RecursionError) as error:
                raise ValueError(f"shows {pattern!r:.80} is no regular expression: {error}") from None
        if self.link is not None and not self.link.startswith(("https://", "http://")):
            raise ValueError(f"link {self.link!r} must begin with https:// or http://")


@dataclass
class Searches:
    """The searches of one report, and the seconds that are ``left`` for them."""

    left: float = IN_ALL

    def found(self, pattern: str, text: str) -> bool:
        """Return whether a text has what a pattern says; raise ``ReportError`` where that takes too long."""
        seconds = min(PATIENCE, self.left)
        told = f"shows {pattern!r:.80} takes more than {seconds:.2g} s to look for; repeat nothing that repeats"
        began = time.monotonic()
        with _within(seconds, told):
            found = re.search(pattern, text) is not None
        # A timer of no seconds is none.
        self.left = max(self.left - (time.monotonic() - began), 0.001)
        return found


def explains(one: Explanation, shown: Sequence[str], searches: Searches | None = None) -> bool:
    """Return whether an explanation holds of cases, of which each is the text that is ``shown`` of it.

    Raise ``ReportError`` for an expression that takes longer than ``PATIENCE`` to look for, or than all ``searches``
    have left.
    """
    found = (searches or Searches()).found
    return not one.shows or (bool(shown) and all(found(each, text) for text in shown for each in one.shows))


@contextmanager
def _within(seconds: float, told: str) -> Iterator[None]:
    """Raise ``ReportError``, which says what is ``told``, where what is done within takes longer."""

    def late(*_: object) -> None:
        raise ReportError(told)

    # A search that goes through every way to match ends by a signal alone, and signals come to the main thread.
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def read_explanations(path: Path, today: date | None = None) -> tuple[Explanation, ...]:
    """Return the explanations in a JSON file.

    Raise ``ReportError`` where it is malformed, where two explain one cause of a backend, and for one whose day is over
    (UTC, where no ``today`` is given); for a file of more than ``LARGEST``, and one whose expressions take longer than
    ``IN_ALL`` to be read.
    """
    try:
        with _within(IN_ALL, f"its expressions take more than {IN_ALL:g} s to be read"):
            found = msgspec.json.decode(content(path, LARGEST), type=tuple[Explanation, ...])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReportError(f"{path} is no list of explanations: {error}") from None
    _check(path, found, today or datetime.now(UTC).date())
    return found


def _check(path: Path, found: Sequence[Explanation], today: date) -> None:
    known: set[tuple[str, str, tuple[str, ...]]] = set()
    for number, one in enumerate(found, 1):
        where = f"{path}: explanation {number} ({', '.join(one.backends)}: {'; '.join(one.causes)})"
        if one.expiry < today:
            until = one.expiry.isoformat()
            raise ReportError(f"{where} expired on {until}; see whether it still holds, and ask {one.owner} for a day")
        mine = [(backend, cause, one.shows) for backend in one.backends for cause in one.causes]
        twice = [entry for entry in mine if entry in known]
        if twice:
            raise ReportError(f"{where}: this cause of {twice[0][0]} is explained before; remove one of the two")
        known |= set(mine)
