"""Which cases of a run one backend is asked about: those within its claims, and a few beside each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from conformance.backends.base import Claims
from conformance.judging.clause import Outcome
from conformance.runner.dialect import Trial
from conformance.runner.outcomes import ENDING

PROBES: Final = 2
"""Cases outside a claim that are run all the same, to see whether the claim is too small."""

PART: Final = 10
"""One case of so many may be such. Without it a run that 30 seconds ended asked an adapter 16 of them, and 8 others."""


@dataclass
class Scope:
    """Claims, and how many cases outside each of them were run all the same, beside those ``asked`` within."""

    claims: Claims
    asked: int = 0
    probing: bool = True
    """Whether any are: which depends on what was asked before, so that the slices of a run leave it."""
    _probed: Counter[str] = field(default_factory=Counter)
    _answers: bool = True

    def outside(self, one: Trial) -> str | None:
        """Return the claim that leaves the case out, if one does."""
        return one.outside(self.claims)

    def standing(self, one: Trial) -> bool | None:
        """Return whether the case is within the claims; ``None`` where nothing of its kind is ever asked for."""
        if self.outside(one) is None:
            return True
        wanted = not set(one.facts.ops) - self.claims.keys() and one.dialect.probed(self.claims, one.subject)
        return False if wanted else None

    def probe(self, one: Trial, outside: str) -> bool:
        """Return whether a case that a claim leaves out is run all the same, and count it."""
        rare = PART * self._probed.total() < self.asked
        if not (self.probing and rare and self._answers and one.facts.legal) or self._probed[outside] >= PROBES:
            return False
        wanted = one.dialect.probed(self.claims, one.subject)
        self._probed[outside] += wanted
        return wanted

    def probed(self, outcome: Outcome) -> None:
        """Take note of what such a case came to: there is no other after one without an answer, which costs seconds."""
        self._answers = self._answers and outcome not in ENDING
