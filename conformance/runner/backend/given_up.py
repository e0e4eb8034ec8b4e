"""Operations of which nothing more is asked: each case that hangs costs as long as a case may take, and a start."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from conformance.judging.cause import Signature
from conformance.judging.verdict import Verdict
from conformance.runner.backend.failure_equivalence import way
from conformance.runner.outcomes import ENDING


@dataclass
class GivenUp:
    """Counts the cases of each operation that ended, hung or confused the process; after ``most`` it is given up.

    With 0 none ever is. Those that end as a ``known`` failure of the operation does are expected, and do not count.
    """

    most: int = 0
    known: set[tuple[str, Signature]] = field(default_factory=set)
    _broken: Counter[tuple[str, Signature]] = field(default_factory=Counter)

    def expect(self, op: str, judged: Verdict) -> None:
        """Take note of how the case of a known failure ended."""
        self.known.add((op, way(judged)))

    def add(self, op: str, judged: Verdict) -> None:
        """Take note of how a case ended."""
        if judged.outcome in ENDING:
            self._broken[op, way(judged)] += 1

    def has(self, op: str) -> bool:
        """Return whether the operation is given up."""
        return 0 < self.most <= self._count(op)

    def why(self, op: str) -> Verdict:
        """Return the verdict on a case of an operation that is given up."""
        told = f"{op} was given up after {self._count(op)} hangs or crashes; --stop-after 0 asks on"
        return Verdict(outcome="not_run", clauses={}, detail=told)

    def _count(self, op: str) -> int:
        return sum(many for (of, ended), many in self._broken.items() if of == op and (of, ended) not in self.known)
