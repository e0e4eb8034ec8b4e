"""What is shown while a run goes on: a live line on a terminal, plain lines otherwise, always on standard error.

Results go to standard output: ``printer`` for people, ``print_json`` for programs.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from conformance.cases.escapes import printable
from conformance.cli.printing import print_json, printer
from conformance.runner.offering import Drawing
from conformance.runner.outcomes import FAILING
from conformance.runner.records.record import CaseRecord, Failure, Record
from conformance.runner.shrinking.search_progress import Searching

PAUSE: Final = 15.0
"""Seconds between plain lines: often enough to see that it lives, seldom enough for a log."""


class Progress:
    """Counts records as they are written. Use it as a context manager, and as ``watch`` of ``explore``."""

    def __init__(self, *, quiet: bool = False) -> None:
        """Show progress unless ``quiet``."""
        self.console = Console(stderr=True, quiet=quiet, highlight=False, emoji=False)
        self._status: Status | None = None
        self._cases: Counter[str] = Counter()
        self._failing: Counter[str] = Counter()
        self._op = ""
        self._drawing = Drawing(0.0, 0)
        self._began = time.monotonic()
        self._told = self._began - PAUSE
        self._searched: tuple[str, float] = ("", self._began)

    def __enter__(self) -> Self:
        """Begin the live line, if this is a terminal."""
        if self.console.is_terminal and not self.console.quiet:
            self._status = self.console.status("starting")
            self._show(self._status.start)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the live line."""
        if self._status is not None:
            self._show(self._status.stop)

    def __call__(self, record: Record) -> None:
        """Take notice of one record."""
        if isinstance(record, CaseRecord):
            self._cases[record.backend] += 1
            as_expected = record.expected is not None and record.expected.met
            self._failing[record.backend] += record.outcome in FAILING and not as_expected
            self._op = record.op
            self.tell(self._line())
        elif isinstance(record, Failure) and record.known is None:
            self.tell(f"minimised {record.backend} {record.clause} ({record.outcome}): {record.case}", now=True)

    def _line(self) -> str:
        cases = self._cases.items()
        counts = ", ".join(
            f"{name} {count} case{'' if count == 1 else 's'}, {self._failing[name]} failing" for name, count in cases
        )
        spent = time.monotonic() - self._began
        rate = f", {sum(self._cases.values()) / spent:.0f} cases/s" if spent > 1 else ""
        return f"{spent:4.0f} s  {self._op}: {counts}{rate}{left(spent, self._done())}"

    def draw(self, far: Drawing) -> None:
        """Take notice of how far the drawing of cases is, for the time left."""
        self._drawing = far
        if self._op:
            self.tell(self._line())

    def _done(self) -> float:
        """Return the part of the run's cases that is judged, as far as that is known."""
        return self._drawing.part * min(sum(self._cases.values()) / max(self._drawing.offered, 1), 1.0)

    def search(self, far: Searching) -> None:
        """Show how far the search for the smallest failing cases of a backend is."""
        if self._searched[0] != far.backend:
            self._searched = (far.backend, time.monotonic())
        spent = time.monotonic() - self._searched[1]
        explained = f"{far.explained} of {far.failing} failing cases explained"
        rate = f", {far.asked / spent:.0f}/s" if spent > 1 else ""
        line = f"{far.backend}: looking for smallest cases: {explained}, {far.asked} asked{rate}"
        self.tell(f"{time.monotonic() - self._began:4.0f} s  {line}{left(spent, far.explained / max(far.failing, 1))}")

    def tell(self, line: str, *, now: bool = False) -> None:
        """Show one line; where that means to print it, only ``now`` and otherwise once in a while."""
        if self._status is not None:
            self._status.update(escape(printable(line)))
        elif now or time.monotonic() - self._told > PAUSE:
            self._told = time.monotonic()
            self._show(lambda: self.console.print(escape(printable(line)), soft_wrap=True))

    def _show(self, write: Callable[[], object]) -> None:
        """Write to standard error; a full disk there, or a terminal that is gone, ends no run."""
        try:
            write()
        except BrokenPipeError:
            raise
        except OSError:
            self.console.quiet = True
            sys.stderr = None  # what it holds back would fail once more at the end of the process


def left(spent: float, done: float) -> str:
    """Return the time left, in words, once enough is done to tell: the rest is taken to go on like what is done."""
    if spent < 2 or not 0.02 < done < 1:
        return ""
    seconds = spent * (1 - done) / done
    return f", about {seconds:.0f} s left" if seconds < 100 else f", about {seconds / 60:.0f} min left"


__all__ = ["Progress", "left", "print_json", "printer"]
