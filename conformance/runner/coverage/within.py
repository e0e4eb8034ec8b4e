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

    Its share is a third as many as there are different ones among the ``examples`` draws that all backends are given.
    What there is no time to ask for counts like any other case, so that a time budget changes no case.
    """

    backend: BackendRun
    examples: int
    common: int = 0
    standings: Counter[bool | None] = field(default_factory=Counter)

    def add(self, one: Trial, *, common: bool) -> bool | None:
        """Count a different case, one of the first draws or not; return whether it is within the claims."""
        standing = self.backend.scope.standing(one)
        self.standings[standing] += 1
        self.common += common
        return standing

    def enough(self, own: int) -> bool:
        """Return whether the backend has its share, or there is none to be had after ``own`` draws for it alone."""
        if not self.standings[True]:
            return not self.standings[False] or own >= NONE * self.examples
        return PART * self.standings[True] >= self.common
