"""Completion: what is started is done at another time or by another kernel than what is waited for at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from conformance.backends.case_arrays import Placed
from conformance.backends.reference import Stored
from conformance.cases.case import Case
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.variants.folding import Folding, halves, left
from conformance.reference.divergent_ranks import Meeting
from conformance.reference.effects import Effects, Ranks
from conformance.reference.rejection import Rejected

Act = Callable[[], list[Ranks]]


class _Told(Stored):
    """Tells the backend whether a collective is one that was started, and how many are under way."""

    def __init__(self, case: Case, placed: Placed, backend: _Completing) -> None:
        super().__init__(case, placed)
        self.backend = backend

    def start(self, act: Act, step: Step) -> list[Any]:
        self.backend.under_way += 1
        self.backend.started = True
        try:
            return super().start(act, step)
        finally:
            self.backend.started = False

    def done(self, ticket: Any) -> Ranks:
        self.backend.under_way = max(self.backend.under_way - 1, 0)
        return super().done(ticket)


class _Completing(Folding):
    kind = "completion"
    started = False
    under_way = 0
    calls = 0

    def _effects(self, case: Case, placed: Placed) -> Effects:
        self.under_way, self.started = 0, False
        return _Told(case, placed, self)


class EveryThirdByATree(_Completing):
    """Every third collective has a channel of its own, whose members are a tree; the others go round a ring."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        self.calls += 1
        return left(terms, op) if self.calls % 3 else halves(terms, op)


class BlockingByATree(_Completing):
    """Only what is waited for at once is folded by the low-latency tree."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        return left(terms, op) if self.started else halves(terms, op)


class DoubleBuffered(_Completing):
    """Two sets of buffers take turns, and the second is filled from the last member to the first."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        self.calls += 1
        return left(terms[::-1] if self.calls % 2 else terms, op)


class BusyLinks(_Completing):
    """With another collective under way the links are shared, and a different tree is faster."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        return halves(terms, op, 3) if self.under_way > 1 else left(terms[::-1], op)


class ProgressThread(_Completing):
    """A thread folds what is started in the order in which members arrive, each time from another one on."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        self.calls += 1
        at = (len(terms) // 2 if self.started else self.calls) % len(terms)
        return left([*terms[at:], *terms[:at]], op)


class FirstCallTunes(_Completing):
    """The first calls try the algorithms, one after the other; later ones keep the last."""

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        self.calls += 1
        return (left, halves, lambda terms, op: left(terms[::-1], op))[min(self.calls // 4, 2)](terms, op)


class _WholeGroup(Meeting):
    def _stopped_by_death(self, inputs: Mapping[str, list[Any]]) -> Rejected | None:
        return None


class TheGroupEndsWithItsMember(_Completing):
    """A group that has lost a member is aborted, and members that waited for nothing of it raise with the others."""

    meeting = _WholeGroup

    def total(self, terms: Sequence[Array], op: str, rank: int) -> Array:
        return left(terms, op)
