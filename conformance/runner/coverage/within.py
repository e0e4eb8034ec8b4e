"""How many of the cases drawn lie within the claims of each backend, and when they are enough to say something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.dialect import Trial
from conformance.runner.ids import Ids
from conformance.runner.plan import Draws

PART: Final = 3
"""One case of three. The README's backend claimed 58 of 630 cases of all_reduce, and conformed with five mistakes that
are all found once it has its third. Repeats do not count: of its draws, 23 % were within the claims."""

NONE: Final = 3
"""Times as many draws as asked for without one within the claims: after 900, such cases are fewer than 1 of 300."""


class Within:
    """Counts the different cases of one suite and operation: those within the claims of each backend.

    What there is no time to ask for counts like any other case, so that a time budget changes no case.
    """

    def __init__(self, backends: Sequence[BackendRun], draws: Draws) -> None:
        """Start with no draw."""
        self._backends, self._examples = backends, draws.examples
        self._draws = self._wanted = 0
        self._seen = Ids()
        self._standings: list[Counter[bool | None]] = [Counter() for _ in backends]

    def new(self, name: str) -> bool:
        """Count one draw, the case with this id; return whether it was not drawn before."""
        self._draws += 1
        return self._seen.add(name)

    def add(self, one: Trial) -> None:
        """Count a case that is new."""
        self._wanted += self._draws <= self._examples
        for standings, backend in zip(self._standings, self._backends, strict=True):
            standings[backend.scope.standing(one)] += 1

    def enough(self) -> bool:
        """Return whether each backend that may claim some of these cases claims a third as many as were drawn."""
        return all(map(self._served, self._standings))

    def _served(self, standings: Counter[bool | None]) -> bool:
        if not standings[True]:
            return not standings[False] or self._draws >= NONE * self._examples
        return PART * standings[True] >= self._wanted
