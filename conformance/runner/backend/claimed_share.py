"""How many of the cases drawn lie within the claims of a backend, and when they are enough to say something."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.dialect import Trial

PART: Final = 3
"""One case of three. The README's backend claimed 58 of 630 cases of all_reduce, and conformed with five mistakes that
are all found once it has its third."""

NONE: Final = 3
"""Times as many draws as asked for without one within the claims: of 900 within its words, none was legal then."""


@dataclass
class Share:
    """Counts the different cases of one suite and operation by whether they are within the claims of ``backend``.

    Its share is a third as many as there are different ones among the ``examples`` draws that all backends are given:
    the ``common`` ones, of which ``shared`` are within its claims. What there is no time to ask for counts like any
    other case, so that a time budget changes no case.
    """

    backend: BackendRun
    examples: int
    common: int = 0
    shared: int = 0
    standings: Counter[bool | None] = field(default_factory=Counter)

    def add(self, one: Trial, *, common: bool, again: bool = False) -> bool | None:
        """Count a case, one of the first draws or not; return whether it is within the claims.

        One that comes ``again`` was drawn for the backend alone before.
        """
        standing = self.backend.scope.standing(one)
        self.standings[standing] += not again
        self.common += common
        self.shared += common and standing is True
        return standing

    @property
    def wide(self) -> bool:
        """Return whether a third of the common cases lies within the claims."""
        return PART * self.shared >= self.common

    def enough(self, own: int, common: int, examples: int) -> bool:
        """Return whether the backend has its share of so many ``common`` cases, drawn in so many ``examples``.

        It has as well where there is none to be had after ``own`` draws for it alone.
        """
        if not self.standings[True]:
            return not self.standings[False] or own >= NONE * examples
        return PART * self.standings[True] >= common
