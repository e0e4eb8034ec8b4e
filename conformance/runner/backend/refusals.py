"""Refusals of a backend that has answered no case of an operation yet: they count only once it does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from conformance.judging.verdict import Verdict
from conformance.runner.backend.conversation import excused
from conformance.runner.backend.failing_cases import Failed
from conformance.runner.outcomes import UNJUDGED

REFUSALS: Final = 1000
"""Refusals of one operation that are kept until the backend answers a case of it: they count from then on."""


@dataclass
class Refusals:
    """The operations that were ``answered``, and the refusals ``kept`` of the others."""

    answered: set[str] = field(default_factory=set)
    kept: dict[str, list[Failed]] = field(default_factory=dict)
    excusing: bool = True
    """Whether any is: whether an operation is answered anywhere one slice of a run does not know."""
    told: list[str] = field(default_factory=list)
    """The cases that were refused, where none is excused."""

    def weighed(self, op: str, judged: Verdict) -> Verdict:
        """Return the verdict; a refusal is excused where the operation was never answered."""
        if not self.excusing:
            return judged
        return excused(judged) if judged.refusal and op not in self.answered else judged

    def room(self, op: str) -> bool:
        """Return whether another refusal of the operation is kept."""
        return len(self.kept.get(op, ())) < REFUSALS

    def keep(self, op: str, failed: Failed) -> None:
        """Keep a refusal."""
        self.kept.setdefault(op, []).append(failed)

    def counted_by(self, op: str, judged: Verdict) -> list[Failed]:
        """Return the refusals that count from now on, because ``judged`` is the first answer to the operation."""
        if judged.refusal or judged.outcome in UNJUDGED or op in self.answered:
            return []
        self.answered.add(op)
        return self.kept.pop(op, [])
