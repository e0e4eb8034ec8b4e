"""What the records of one backend add up to, counted as they are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from conformance.runner.outcomes import OWED, UNJUDGED
from conformance.runner.records.record import CaseRecord


@dataclass
class Tally:
    """Counts of records: by outcome, and by suite and operation all of them and those ``judged``.

    ``firsts`` has, by outcome, the first record of what keeps a run from being complete.
    ``ops``, ``suites``, ``clauses_by_op`` and ``words`` are those of judged cases: the clauses that spoke, and the
    words of the number model that showed.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    parts: Counter[tuple[str, str]] = field(default_factory=Counter)
    judged: Counter[tuple[str, str]] = field(default_factory=Counter)
    ops: set[str] = field(default_factory=set)
    suites: set[str] = field(default_factory=set)
    clauses_by_op: dict[str, set[str]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    firsts: dict[str, CaseRecord] = field(default_factory=dict)

    @property
    def clauses(self) -> set[str]:
        """Return the clauses that spoke."""
        return set().union(*self.clauses_by_op.values())

    def unjudged(self, ops: Iterable[str]) -> tuple[str, ...]:
        """Return those of ``ops`` of which no case was judged."""
        return tuple(op for op in ops if op not in self.ops)

    def add(self, record: CaseRecord, instead: CaseRecord | None = None) -> None:
        """Count a record, ``instead`` of an earlier one of the same case."""
        if instead is not None:
            self._count(instead, -1)
        self._count(record, 1)
        if record.outcome in OWED:
            self.firsts.setdefault(record.outcome, record)
        if record.outcome not in UNJUDGED:
            self.ops.add(record.op)
            self.suites.add(record.suite)
            self.clauses_by_op.setdefault(record.op, set()).update(record.clauses)
            self.words.update(record.shown)

    def _count(self, record: CaseRecord, many: int) -> None:
        place = record.suite, record.op
        self.outcomes[record.outcome] += many
        if not self.outcomes[record.outcome]:
            del self.outcomes[record.outcome]
        self.parts[place] += many
        self.judged[place] += many * (record.outcome not in UNJUDGED)
