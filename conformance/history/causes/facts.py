"""What a search for a cause may ask: a change, the runs, what differs between them, the case, and a laboratory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from conformance.cases.case_error import CaseError
from conformance.cases.declarations.terms import Terms
from conformance.history.changes import Change, Comparison
from conformance.history.differences import Difference
from conformance.history.outline import BackendOutline, CaseOutline, HeaderOutline, Outline
from conformance.runner.deck import decked_case
from conformance.runner.dialects import load_case, name_of
from conformance.runner.drawn_again import drawn_again
from conformance.runner.records.origin import DECK, Origin, origin_of
from conformance.runner.records.record import case_file


class Result(NamedTuple):
    """What one replay came to; ``severity`` is that of ``history.outline``."""

    outcome: str
    severity: int
    observation: str | None
    blame: str | None = None

    def like(self, seen: CaseOutline) -> bool:
        """Return whether a record says the same, and, where it has a digest, of the same observation."""
        same = (self.outcome, self.severity) == (seen.outcome, seen.severity)
        return same and (seen.observation is None or seen.observation == self.observation)


class Laboratory(Protocol):
    """One backend as it runs here and now."""

    @property
    def head(self) -> HeaderOutline:
        """Return the header that a run would have here."""

    @property
    def entry(self) -> BackendOutline:
        """Return what the backend says of itself here."""

    def replays(self, case: Any, times: int, *, case_limit: float | None = None) -> Sequence[Result]:
        """Return what a case comes to, so many times, each alone in a fresh process."""

    def judged(self, case: Any, terms: Terms) -> Result | None:
        """Return what the last observation of a case comes to by other terms; ``None`` where there is none."""


@dataclass(frozen=True)
class Facts:
    """A change between two runs, and everything that is known about it. ``times`` is how often it is replayed."""

    change: Change
    comparison: Comparison
    today: date
    laboratory: Laboratory | None = None
    times: int = 10

    @property
    def before(self) -> Outline:
        """Return the earlier run."""
        return self.comparison.before

    @property
    def after(self) -> Outline:
        """Return the later run."""
        return self.comparison.after

    @property
    def pair(self) -> tuple[CaseOutline, CaseOutline]:
        """Return what the case came to in each run, which both have a record of it."""
        assert self.change.before is not None
        assert self.change.after is not None
        return self.change.before, self.change.after

    @cached_property
    def differing(self) -> tuple[Difference, ...]:
        """Return what differs between the two runs for the backend."""
        return self.comparison.differing[self.change.backend]

    @property
    def origin(self) -> Origin | None:
        """Return the draw that the case came from, where its record says so."""
        return origin_of(self.change.last.origin or "")

    @cached_property
    def case(self) -> Any | None:
        """Return the case: stored beside a run, of the deck, or drawn again; ``None`` where nothing gives it."""
        for run in (self.after, self.before):
            stored = run.path.parent / case_file(self.change.case)
            try:
                if stored.is_file():
                    case = load_case(stored)
                    if name_of(case) == self.change.case:
                        return case
            except CaseError:
                continue
        decked = decked_case(self.change.case) if (self.change.last.origin or "").startswith(DECK) else None
        return decked or next(filter(None, (self.drawn(run) for run in (self.after, self.before))), None)

    def drawn(self, run: Outline) -> Any | None:
        """Return the case drawn again within the claims that ``run`` has; ``None`` where that is another one."""
        entry = run.entries.get(self.change.backend)
        if self.origin is None or entry is None:
            return None
        try:
            case = drawn_again(self.origin, entry.claims)
        except CaseError:
            return None
        return case if name_of(case) == self.change.case else None
