"""How many of the cases drawn lie within the claims of each backend, and when they are enough to say something."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from conformance.judging.clause import Subject
from conformance.runner.backend_run import Lane
from conformance.runner.plan import Draws

PART: Final = 3
"""One case of three. The README's backend claimed 58 of 630 cases of all_reduce, and conformed with five mistakes that
are all found once it has its third. Repeats do not count: of its draws, 23 % were within the claims."""

NONE: Final = 3
"""Times as many draws as asked for without one within the claims: after 900, such cases are fewer than 1 of 300."""


class Within:
    """Counts the different cases of each suite and operation: those within the claims of each lane.

    What there is no time to ask for counts like any other case, so that a time budget changes no case.
    """

    def __init__(self, lanes: Sequence[Lane]) -> None:
        """Start with no draw."""
        self._lanes = lanes
        self._counts: defaultdict[tuple[str, str], _Counts] = defaultdict(lambda: _Counts(len(lanes)))

    def add(self, draws: Draws, name: str, subject: Subject) -> None:
        """Count one draw: the case with this id."""
        counts = self._counts[draws.suite, draws.op]
        counts.draws += 1
        if name not in counts.seen:
            counts.seen.add(name)
            counts.wanted += counts.draws <= draws.examples
            for standings, lane in zip(counts.standings, self._lanes, strict=True):
                standings[lane.standing(subject)] += 1

    def enough(self, draws: Draws) -> bool:
        """Return whether every lane that may claim some of these cases claims a third as many as were first drawn."""
        counts = self._counts[draws.suite, draws.op]
        return all(_served(standings, counts, draws.examples) for standings in counts.standings)


class _Counts:
    """Of one suite and operation: the draws, how many different cases are wanted, and the standings of each lane."""

    def __init__(self, lanes: int) -> None:
        self.draws = self.wanted = 0
        self.seen: set[str] = set()
        self.standings: list[Counter[bool | None]] = [Counter() for _ in range(lanes)]


def _served(standings: Counter[bool | None], counts: _Counts, examples: int) -> bool:
    if not standings[True]:
        return not standings[False] or counts.draws >= NONE * examples
    return PART * standings[True] >= counts.wanted
