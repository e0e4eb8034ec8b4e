"""What a run is to do: operations, suites, and how many cases of which seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from conformance.generate.choices import Choice
from conformance.generate.claims import Claimed
from conformance.runner.dialects import dialects, suites
from conformance.runner.worker.answers import Limits


@dataclass(frozen=True)
class Profile:
    """How much is asked: so many cases of the ``deck``, all by default, and then draws, where it ``explores``.

    Drawn are ``examples`` for each operation, more until ``distinct`` of its cases differ. Behind the deck they are
    drawn until so many ``seconds`` of the run are spent, however many that is, where seconds are named. All of it is
    asked ``times`` times.
    """

    examples: int
    distinct: int = 0
    deck: int | None = None
    explores: bool = True
    seconds: float | None = None
    times: int = 1


PROFILES: Final = {
    "default": Profile(300, seconds=90.0),
    "deck": Profile(300, explores=False),
    "quick": Profile(300, deck=200, explores=False),
    "stability": Profile(300, deck=300, explores=False, times=5),
    "nightly": Profile(1_200, distinct=1_000),
}
"""200 examples already reach every clause, with one seed as with another."""

EXAMPLES: Final = PROFILES["default"].examples

DECK: Final = "the deck"
"""What the deck is called among the parts of a run."""


@dataclass(frozen=True)
class Draws:
    """The cases that one suite draws for one operation; see ``runner.draws.draw_cases``.

    ``limits`` are the claims that they lie within, of those drawn for one backend alone.
    """

    suite: str
    op: str
    domain: Choice[Any]
    examples: int
    distinct: int
    limits: Claimed = field(default_factory=dict)
    counted: bool = False
    """Whether somebody named the number of examples, so that a backend's own number says nothing."""
    first: int = 0
    """The number of the first draw for all backends."""
    own: int | None = None
    """The number of the first draw for one backend alone; they follow the others where it is ``None``."""

    @property
    def name(self) -> str:
        """Return what the part of a run is called that draws these."""
        return f"{self.suite} of {self.op}"

    def asked(self, own: int) -> int:
        """Return how many of the draws are asked of a backend whose ``own`` number of examples is that, or 0."""
        return self.examples if self.counted or not own else max(0, min(own - self.first, self.examples))

    @property
    def alone(self) -> int:
        """Return the number of the first draw for one backend alone."""
        return self.first + self.examples if self.own is None else self.own


@dataclass(frozen=True)
class Plan:
    """Operations and suites to run, examples drawn for each, and the seed.

    After ``time_budget`` seconds no new case is asked; each may go ``case_limit`` seconds without an answer. An
    operation is given up after ``stop_after`` hangs or crashes; with 0 none is. ``sandbox`` says that workers are in
    one. A ``decked`` one asks the deck first, as far as its profile says. ``choices`` bounds the cases that each
    backend is asked behind it where draws go on for so many seconds. All is asked ``times`` times.
    """

    ops: tuple[str, ...]
    examples: int
    seed: int = 0
    suites: tuple[str, ...] = tuple(dialects()["spmd"].suites)
    profile: str = "default"
    time_budget: float | None = None
    case_limit: float = Limits.case
    sandbox: bool = False
    stop_after: int = 0
    slice: tuple[int, int] | None = None
    """Which part of the draws, of how many (``runner.slices``), is judged; the rest is left to others."""
    decked: bool = False
    choices: int | None = None
    times: int = 1

    def draws(self) -> Iterator[Draws]:
        """Yield what is drawn, operation by operation."""
        for op in self.ops:
            for suite in self._drawing(op):
                yield self.of(suite, op)

    def of(self, suite: str, op: str) -> Draws:
        """Return what one suite draws for one operation."""
        chosen = suites()[suite]
        examples = chosen.drawn(op, self.examples)
        distinct = chosen.drawn(op, PROFILES[self.profile].distinct) if PROFILES[self.profile].distinct else 0
        return Draws(suite, op, chosen.domains[op], examples, distinct, counted=self.counted)

    @property
    def counted(self) -> bool:
        """Return whether somebody named the number of examples."""
        return self.examples != PROFILES[self.profile].examples

    @property
    def deck(self) -> int | None:
        """Return how many cases of the deck are asked for at most, ``None`` for all of them."""
        return PROFILES[self.profile].deck if self.decked else 0

    @property
    def explores(self) -> bool:
        """Return whether anything is drawn."""
        return not self.decked or PROFILES[self.profile].explores

    @property
    def exploration(self) -> float | None:
        """Return the seconds of the run that draws go on for behind the deck; ``None`` where their number is named.

        They are those of the time budget, where there is one. Slices have the same cases wherever they are judged, so
        that none of them goes by time.
        """
        seconds = PROFILES[self.profile].seconds
        if not self.decked or self.slice is not None or seconds is None:
            return None
        return seconds if self.time_budget is None else self.time_budget

    @property
    def counts_draws(self) -> bool:
        """Return whether so many draws are owed that every clause should speak: not where they go by time."""
        return self.explores and self.exploration is None

    def suite_of(self, op: str, likely: str) -> str | None:
        """Return ``likely``, or else another suite of the plan that draws cases of ``op``; ``None`` if none does."""
        drawing = self._drawing(op) if op in self.ops else []
        return likely if likely in drawing else next(iter(drawing), None)

    def _drawing(self, op: str) -> list[str]:
        return [name for name in self.suites if op in suites()[name].domains]

    @property
    def named(self) -> tuple[str, ...]:
        """Return the operations, where they are not all that its suites draw cases for."""
        drawn = {op for name in self.suites for op in suites()[name].domains}
        return self.ops if set(self.ops) < drawn else ()

    def clauses(self) -> frozenset[str]:
        """Return the ids of the clauses that the cases should trigger: shared ones only where every operation runs."""
        return frozenset().union(
            *(
                dialect.expected([op for op in self.ops if op in dialect.ops], self.suites)
                for dialect in dialects().values()
            )
        )
