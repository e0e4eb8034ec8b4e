"""What the records of one backend add up to, counted as they are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from conformance.runner.outcomes import ENDING, OWED, UNJUDGED
from conformance.runner.records.company import Companies, Company
from conformance.runner.records.origin import DECK
from conformance.runner.records.record import CaseRecord


@dataclass
class Tally:
    """Counts of records: by outcome, and by suite and operation all of them and those ``judged``.

    ``firsts`` has, by outcome, the first record of what keeps a run from being complete. Counted are, of judged cases,
    ``suites``, ``spoken`` clauses by operation, ``words`` of the number model, and what of the claims was ``met``; and
    the operations of cases that were ``valued``, for they passed with a value (of those of the deck
    ``valued_in_deck``), or ``broken`` off without an answer. A record that is replaced counts for nothing any more, so
    that all of it follows from the last record of each case, in whatever order they came.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    parts: Counter[tuple[str, str]] = field(default_factory=Counter)
    judged: Counter[tuple[str, str]] = field(default_factory=Counter)
    suites: Counter[str] = field(default_factory=Counter)
    spoken: dict[str, Counter[str]] = field(default_factory=dict)
    words: Counter[str] = field(default_factory=Counter)
    met: Counter[int] = field(default_factory=Counter)
    valued: Counter[str] = field(default_factory=Counter)
    valued_in_deck: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    firsts: dict[str, CaseRecord] = field(default_factory=dict)
    company: dict[str, Company] = field(default_factory=dict)
    """What records say of company, by case."""

    @classmethod
    def of(cls, records: Iterable[CaseRecord]) -> Tally:
        """Return what records, one of each case, add up to."""
        found = cls()
        for record in records:
            found.add(record)
        return found

    @property
    def ops(self) -> set[str]:
        """Return the operations of which a case was judged."""
        return {op for (_, op), many in self.judged.items() if many}

    @property
    def clauses_by_op(self) -> dict[str, set[str]]:
        """Return the clauses that spoke in judged cases, by operation."""
        return {op: set(+clauses) for op, clauses in self.spoken.items()}

    @property
    def clauses(self) -> set[str]:
        """Return the clauses that spoke in judged cases."""
        return set().union(*self.clauses_by_op.values())

    def unjudged(self, ops: Iterable[str]) -> tuple[str, ...]:
        """Return those of ``ops`` of which no case was judged."""
        judged = self.ops
        return tuple(op for op in ops if op not in judged)

    def unshown(self, ops: Iterable[str]) -> tuple[str, ...]:
        """Return those of ``ops`` of which cases were judged, and none passed with a value."""
        judged, valued = self.ops, +self.valued
        return tuple(op for op in ops if op in judged and op not in valued)

    @property
    def companies(self) -> Companies | None:
        """Return what being asked about in company came to; ``None`` where nothing was."""
        if not self.company:
            return None
        otherwise = {name: one for name, one in self.company.items() if one.outcome is not None}
        alone = sum(one.alone for one in self.company.values())
        return Companies(
            settled=len(self.company) - alone,
            alone=alone,
            only=tuple(name for name, one in otherwise.items() if one.outcome != "passed"),
            hidden=tuple(name for name, one in otherwise.items() if one.outcome == "passed"),
        )

    def add(self, record: CaseRecord, instead: CaseRecord | None = None) -> None:
        """Count a record, ``instead`` of an earlier one of the same case."""
        if instead is not None:
            self._count(instead, -1)
        self._count(record, 1)
        if record.outcome in OWED:
            self.firsts.setdefault(record.outcome, record)

    def _count(self, record: CaseRecord, many: int) -> None:
        place = record.suite, record.op
        if record.company is not None:
            self.company[record.case] = record.company
        self.outcomes[record.outcome] += many
        if not self.outcomes[record.outcome]:
            del self.outcomes[record.outcome]
        self.parts[place] += many
        if record.outcome in UNJUDGED:
            return
        self.judged[place] += many
        self.suites[record.suite] += many
        self.broken[record.op] += many * (record.outcome in ENDING and record.expected is None)
        valued = record.outcome == "passed" and not record.bare
        self.valued[record.op] += many * valued
        self.valued_in_deck[record.op] += many * (valued and (record.origin or "").startswith(DECK))
        spoken = self.spoken.setdefault(record.op, Counter())
        if many > 0:
            spoken.update(record.clauses.keys())
            self.words.update(record.shown)
            self.met.update(record.met)
        else:
            spoken.subtract(record.clauses.keys())
            self.words.subtract(record.shown)
            self.met.subtract(record.met)
