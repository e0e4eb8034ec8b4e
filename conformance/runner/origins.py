"""Where the cases of a run came from: who needs one again has it drawn again, so that nobody has to keep it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from conformance.runner.dialect import Trial
from conformance.runner.dialects import trial
from conformance.runner.draws import numbered
from conformance.runner.plan import Draws
from conformance.runner.records.origin import Origin

NUMBERS: Final = 1 << 40
"""Draws of one suite and operation, at most."""


class Origins:
    """Numbers for cases: a draw and its number, or, from -1 down, a case that was not drawn and is kept."""

    def __init__(self, seed: int = 0) -> None:
        """Know no draws; they are of ``seed``."""
        self.seed = seed
        self._draws: list[Draws] = []
        self._known: dict[tuple[str, str, int], int] = {}
        self._kept: list[tuple[Any, str, str | None]] = []

    def draws(self, draws: Draws) -> Callable[[int], int]:
        """Return what gives the origin of the cases of ``draws`` by their number."""
        first = len(self._draws) * NUMBERS
        self._draws.append(draws)
        return lambda number: first + number

    def named(self, origin: Origin, draws: Draws) -> int:
        """Return the origin of a case that a record names, one of ``draws``."""
        key = origin.suite, origin.op, id(draws.limits) if draws.limits else 0
        at = self._known.get(key)
        if at is None:
            at = self._known[key] = len(self._draws)
            self._draws.append(draws)
        return at * NUMBERS + origin.number

    def keep(self, case: Any, suite: str, name: str | None = None) -> int:
        """Keep a case, and return its origin; ``name`` says where it is from, if anybody knows."""
        self._kept.append((case, suite, name))
        return -len(self._kept)

    def drawn(self, origin: int) -> tuple[Draws, int] | None:
        """Return the draws that a case is one of, and its number; ``None`` for one that was kept."""
        return None if origin < 0 else (self._draws[origin // NUMBERS], origin % NUMBERS)

    def name(self, origin: int) -> str | None:
        """Return where a case is from, as a record says it: which draw it is, or what was said as it was kept.

        ``None`` where nothing was, or it is of no known draws.
        """
        if origin < 0:
            return self._kept[-origin - 1][2]
        drawn = self.drawn(origin) if origin < NUMBERS * len(self._draws) else None
        if drawn is None:
            return None
        draws, number = drawn
        return str(Origin(draws.suite, draws.op, self.seed, number, claimed=bool(draws.limits)))

    def again(self, origin: int) -> Trial:
        """Return the case that came from there."""
        drawn = self.drawn(origin)
        if drawn is None:
            case, suite, _ = self._kept[-origin - 1]
        else:
            draws, number = drawn
            (case, _), suite = numbered(draws.domain, self.seed, number, draws.limits), draws.suite
        made = trial(case, suite)
        assert made is not None  # it was a case before
        return made
