"""How the time of a run is shared out: the deck, draws behind it, and smaller cases.

The rule, in one place:

- A named time budget ends everything: the deck, draws and the search for smaller cases. What of the deck, or of a named
  number of draws, was not judged by then is owed, and the run is incomplete.
- Draws behind the deck of the default profile are owed to nobody. They end when the time budget is spent, or the 90
  seconds of the profile where none is named; those seconds never end the deck. So a run whose deck came to its end is
  complete.
- Once anything failed, a quarter of the budget is kept for smaller cases; the search for them takes half of the run at
  most. Where draws are counted (``--examples``, ``nightly``) and no time budget is named, it takes as long as it takes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from conformance.runner.plan import PROFILES, Plan

SEARCH: Final = 0.25
"""The part of a budget that is kept for smaller cases once anything failed."""

MOST_OF_RUN: Final = 0.5
"""The part of a run that the search for them takes at most."""

SECONDS: Final = PROFILES["default"].seconds or 90.0
"""The budget of a run of the deck without one, for the share of the search."""


@dataclass(frozen=True)
class Deadline:
    """Tells whether a moment of ``clock`` has come."""

    end: float
    clock: Callable[[], float] = time.monotonic

    def __call__(self) -> bool:
        """Return whether it has."""
        return self.clock() >= self.end

    def share(self, part: float) -> Deadline:
        """Return the moment at which a ``part`` of the time that is left is spent."""
        now = self.clock()
        return Deadline(now + part * (self.end - now) if self.end > now else self.end, self.clock)


@dataclass
class Budget:
    """The time of one run of ``plan``, from ``began`` on; ``clock`` tells it, in seconds."""

    plan: Plan
    fails: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.monotonic
    began: float = field(init=False)
    _searched: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Begin now."""
        self.began = self.clock()

    @property
    def spent(self) -> float:
        """Return the seconds of the run so far."""
        return self.clock() - self.began

    def late(self) -> bool:
        """Return whether the time budget is spent."""
        return self.plan.time_budget is not None and self.spent > self.plan.time_budget

    def enough(self) -> bool:
        """Return whether no more is asked of what is owed: a quarter is left for smaller cases where any failed."""
        return self._past(self.plan.time_budget)

    def over(self) -> bool:
        """Return whether draws behind the deck have ended."""
        return self._past(self.plan.exploration)

    def explored(self, done: float) -> float:
        """Return the part of the run that is over when so much of the deck is ``done``; draws by time come then."""
        seconds = self.plan.exploration or 0.0
        return min(1.0, self.spent / max(seconds, self.spent / max(done, 1e-6), 1e-6))

    def _past(self, seconds: float | None) -> bool:
        if seconds is None:
            return False
        return self.spent > seconds or (self.spent > (1 - SEARCH) * seconds and self.fails())

    @property
    def searches_for(self) -> float | None:
        """Return the seconds that the search for smaller cases may take from now on; ``None`` where it takes any."""
        spent, named = self.spent, self.plan.time_budget
        if named is not None:
            return max(0.0, min(named - spent, MOST_OF_RUN * named))
        if not self.plan.decked or self.plan.counts_draws:
            return None
        # The rest of the budget, at least a quarter of the whole run, and no more than half of it.
        quarter = SEARCH / (1 - SEARCH) * max(spent, (1 - SEARCH) * SECONDS)
        return min(max(SECONDS - spent, quarter), max(spent, MOST_OF_RUN * SECONDS))

    def search(self, part: float = 1.0) -> Deadline:
        """Return what tells whether a search that begins now is over; it may take a ``part`` of what is left."""
        seconds = self.searches_for
        if self._searched is None and seconds is not None:
            self._searched = self.clock() + seconds
        return Deadline(math.inf if self._searched is None else self._searched, self.clock).share(part)
