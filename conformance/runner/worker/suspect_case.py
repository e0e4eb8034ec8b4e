"""A case with which a process broke: whose fault it was shows when it is run again alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from conformance.runner.worker.answers import Answer
from conformance.runner.worker.session import Item


@dataclass(frozen=True)
class SuspectCase:
    """The oldest unanswered case of a process that broke, and that break as its answer."""

    item: Item
    evidence: Answer

    def alone(self, answer: Answer) -> Answer:
        """Return what it did alone, with the break among other cases where it does not come back."""
        broken = self.evidence.broken
        if broken is None or answer.broken is not None:
            return answer
        told = f"alone in a fresh process it ran; among other cases: {broken.outcome}, {broken.detail}"
        return replace(answer, note=told, unrepeated=self.evidence)

    def untried(self, why: str) -> Answer:
        """Return the break, where it cannot be run again."""
        return replace(self.evidence, note=f"not run again alone: {why}")
