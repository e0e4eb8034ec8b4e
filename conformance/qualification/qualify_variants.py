"""Legal variants, judged: none may be refused by a *must*, and each must differ from the backend that it varies."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.cases.declarations.terms import Terms
from conformance.judging.verdict import Verdict
from conformance.qualification.asking import Control, beside
from conformance.qualification.changed_methods import PROGRAMS, dialects_of, operations_of, unchanged
from conformance.qualification.drawn_cases import drawn_cases
from conformance.qualification.other_cases import AnyDrawn, other_cases
from conformance.runner.dialect import Trial
from conformance.runner.dialects import dialects, further_clauses, trial
from conformance.runner.worker.in_process import InProcess
from conformance.specs import every_clause


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """What the suite made of one variant.

    ``refused`` has the name of the first case by the *must* clause that it broke there, or by a way to fail that is no
    clause.
    Of the ``cases`` that it was given, ``differs`` are those on which its answers are not those of the correct backend
    it derives from.
    """

    name: str
    kind: str
    refused: dict[str, str]
    cases: int
    differs: int
    doc: str


def judged_variants(
    variants: Sequence[type[Backend]], *, examples: int, seed: int, suites: Sequence[str], ops: Sequence[str]
) -> Iterator[Variant]:
    """Yield a row for every variant, on all drawn cases of the dialects and the operations that it has.

    Each case is drawn once, and its meaning is found once, for all variants of its dialect.
    """
    for name in dialects():
        own = [each for each in variants if name in dialects_of(each)]
        controls = {base: Control(base) for base in {unchanged(each, name) for each in own}}
        every = [_seen(each, name, controls[unchanged(each, name)]) for each in own]
        for one in _drawn(name, examples, seed, suites, ops) if every else ():
            for seen in every:
                seen.look(one)
        yield from (seen.row() for seen in every)


@dataclass
class _Seen:
    """What is known of a variant so far: the ways in which it is refused, each with the first case."""

    variant: type[Backend]
    worker: InProcess
    terms: Terms
    control: Control
    ops: frozenset[str] | None
    refused: dict[str, str] = field(default_factory=dict)
    cases: int = 0
    differs: int = 0

    def look(self, one: Trial) -> None:
        """Ask about one more case, unless it lies outside the claims or the operations."""
        if (self.ops is not None and one.facts.op not in self.ops) or one.outside(self.worker.ready.claims) is not None:
            return
        found, same = beside(one, self.worker.ask, self.terms, self.control)
        if found.verdict.outcome == "unsupported":
            return
        self.cases += 1
        self.differs += not same
        for way in _refusals(found.verdict):
            self.refused.setdefault(way, one.name)

    def row(self) -> Variant:
        """Return what was seen of it."""
        return Variant(
            name=self.variant.__qualname__,
            kind=str(getattr(self.variant, "kind", "")),
            refused=dict(sorted(self.refused.items())),
            cases=self.cases,
            differs=self.differs,
            doc=" ".join((inspect.getdoc(self.variant) or "").split()),
        )


def _seen(variant: type[Backend], dialect: str, control: Control) -> _Seen:
    worker = InProcess(BackendSpec(variant.__qualname__, ()), backend=variant())
    ops = frozenset(operations_of(variant)) if dialect == PROGRAMS else None
    return _Seen(variant, worker, worker.ready.terms, control, ops)


def _refusals(verdict: Verdict) -> list[str]:
    """Return the *must* clauses that are broken, or the way to fail where that is no clause."""
    if verdict.outcome == "passed":
        return []
    if verdict.blame is None:
        return [verdict.outcome]
    known = {**further_clauses(), **every_clause()}
    broken = [name for name, held in verdict.clauses.items() if held == "broken"]
    return [name for name in broken if known[name].requirement == "must"]


def _drawn(dialect: str, examples: int, seed: int, suites: Sequence[str], ops: Sequence[str]) -> Iterator[Trial]:
    """Yield the drawn cases of a dialect: of the suites and operations named that it has, or else of all."""
    known = dialects()[dialect]
    wanted = tuple(suite for suite in suites if suite in known.suites) or tuple(known.suites)
    named = tuple(op for op in ops if op in known.ops) or known.ops
    draw = drawn_cases if dialect == PROGRAMS else other_cases
    drawn: Sequence[AnyDrawn] = draw(seed, examples, wanted, named)
    for each in drawn:
        one = trial(each.case, each.suite)
        if one is not None:
            yield one
