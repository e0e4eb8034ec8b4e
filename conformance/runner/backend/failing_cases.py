"""The failing cases of one backend: whole as far as anything is done with each, by name beyond that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from conformance.judging.cause import Signature
from conformance.judging.clause import AnyClause
from conformance.judging.verdict import Verdict
from conformance.runner.backend.failure_equivalence import breaks_must, broken, telling, way
from conformance.runner.records.record import CaseRecord

MOST_WHOLE: Final = 10_000
"""Failing cases that are kept whole, at a kilobyte each; no adapter had more in a nightly run but where all it did was
wrong. Of every kind a few are, however many there are."""

OF_A_KIND: Final = 8
"""Cases of one kind that are kept whole above that."""


class Kind(NamedTuple):
    """What failing cases share that stand for each other: operation, way to fail, broken clauses, whether by a must."""

    op: str
    way: Signature
    broken: frozenset[str]
    blame: str
    must: bool


@dataclass
class Failed:
    """A failing case: what was recorded, the verdict, and where the case came from, as far as that is known.

    ``empty`` and ``size`` are those of its dialect.
    """

    record: CaseRecord
    verdict: Verdict
    origin: int | None = None
    empty: bool = False
    size: tuple[int, ...] = ()


@dataclass
class Failing:
    """Failing cases by name, in the order in which they failed, and the names of the others by kind."""

    kept: dict[str, Failed] = field(default_factory=dict)
    others: dict[Kind, bytearray] = field(default_factory=dict)
    _count: dict[Kind, int] = field(default_factory=dict)

    def add(self, failed: Failed) -> None:
        """Take a failing case, in place of what was known of it; one that does not fail alone stays where it is."""
        name, verdict = failed.record.case, failed.verdict
        if name in self.kept or verdict.blame is None:
            self.kept[name] = failed
            return
        kind = kind_of(failed.record.op, verdict)
        known = self._count.get(kind, 0)
        self._count[kind] = known + 1
        if len(self.kept) < MOST_WHOLE or known < OF_A_KIND:
            self.kept[name] = failed
        else:
            self.others.setdefault(kind, bytearray()).extend(name.encode() + b"\n")

    def others_like(self, kind: Kind) -> Iterator[str]:
        """Yield the names of the cases of a kind that are not kept whole."""
        yield from bytes(self.others.get(kind, b"")).decode().splitlines()


def kind_of(op: str, verdict: Verdict) -> Kind:
    """Return the kind of a failing case."""
    assert verdict.blame is not None
    return Kind(op, way(verdict), frozenset(broken(verdict)), verdict.blame.id, breaks_must(verdict))


def price(failed: Failed, clauses: Sequence[AnyClause]) -> tuple[int, ...]:
    """Return the ``cost`` of a failing case of the run, of which the case is not at hand."""
    return (failed.empty, len(telling(failed.verdict, clauses)), len(broken(failed.verdict)), *failed.size)
