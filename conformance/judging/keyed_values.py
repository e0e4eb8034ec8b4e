"""Clauses about values that have keys, as those of graphs and of sharded programs have, and the verdict on them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from conformance.cases.observation import RankError
from conformance.judging.applicability import specificity
from conformance.judging.clause import SILENT, Held, Requirement
from conformance.judging.verdict import Verdict
from conformance.reference.graph.evaluate import BoundedValue
from conformance.reference.rejection import Rejected

Words = frozenset[str]
"""What a value is made of."""

Case = TypeVar("Case")
S = TypeVar("S")
F = TypeVar("F")


@dataclass(frozen=True)
class KeyedSubject(Generic[Case]):
    """A case and what its keys mean, or the clause that it breaks.

    ``undefined`` says what it does that has no value in every system, where it does.
    """

    case: Case
    expected: Mapping[str, BoundedValue] = field(default_factory=dict)
    undefined: str = ""
    rejected: Rejected | None = None

    @property
    def legal(self) -> bool:
        """Return whether the case has a meaning."""
        return self.rejected is None


@dataclass(frozen=True)
class WrongValue:
    """A wrong value: its key, what is wrong, and what it is made of."""

    key: str
    how: str
    detail: str
    words: Words


@dataclass(frozen=True)
class WrongValues:
    """All wrong values in the order in which nodes are listed.

    Those that ``follow`` are made of another wrong one: of them nobody can tell what is wrong.
    """

    first: tuple[WrongValue, ...] = ()
    follow: tuple[WrongValue, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        """Return the keys of all."""
        return frozenset(each.key for each in (*self.first, *self.follow))


def parted(
    wrongs: Sequence[WrongValue], ancestors: Callable[[Collection[str]], Mapping[str, Collection[str]]]
) -> WrongValues:
    """Return wrong values, parted; ``ancestors`` gives by key those of some keys whose values it is made of.

    Of two that are made of each other, as storage in two rounds is, the one that is listed first is first.
    """
    if len(wrongs) < 2:
        return WrongValues(tuple(wrongs))
    of = ancestors([wrong.key for wrong in wrongs])
    first: list[WrongValue] = []
    follow: list[WrongValue] = []
    for at, wrong in enumerate(wrongs):
        made_of = [(number, other) for number, other in enumerate(wrongs) if other.key in of[wrong.key]]
        follows = any(number < at or wrong.key not in of[other.key] for number, other in made_of)
        (follow if follows else first).append(wrong)
    return WrongValues(tuple(first), tuple(follow))


@dataclass(frozen=True)
class KeyedClause(Generic[S, F]):
    """One sentence. ``check`` returns ``None`` where it holds, else what was seen and what is right, or ``SILENT``.

    ``when`` says whether a case has anything that the sentence is about.
    """

    id: str
    requirement: Requirement
    text: str
    source: str
    when: Callable[[S], bool]
    check: Callable[[S, F], str | None]
    suite: str
    general: bool = False
    variant: bool = False
    plain: bool = False


def concluded(clauses: Sequence[KeyedClause[S, F]], subject: S, found: F, error: RankError | None) -> Verdict:
    """Return what the clauses that speak say of what was seen: ``passed``, or ``failed`` with the one to blame."""
    asked = [(clause, clause.check(subject, found)) for clause in clauses if clause.when(subject)]
    problems = [(clause, problem) for clause, problem in asked if problem != SILENT]
    held: dict[str, Held] = {clause.id: "held" if problem is None else "broken" for clause, problem in problems}
    broken = [(clause, problem) for clause, problem in problems if problem is not None and clause.requirement != "may"]
    if not broken:
        return Verdict(outcome="passed", clauses=held)
    blame, detail = max(broken, key=lambda each: specificity(each[0], clauses))
    kind = None if error is None else error.kind
    return Verdict(outcome="failed", clauses=held, blame=blame, detail=detail, error=kind)


def unanswered(clauses: Sequence[KeyedClause[S, F]], error: RankError) -> Verdict:
    """Return the verdict on who raised for a legal case, or has no words for one that no claim leaves out."""
    first = clauses[0]
    held: dict[str, Held] = {first.id: "broken"}
    if error.category != "unsupported":
        return Verdict(outcome="errored", clauses=held, blame=first, detail=said(error), error=error.kind)
    detail = f"refused, and no claim leaves it out: {said(error)}"
    return Verdict(outcome="failed", clauses=held, blame=first, detail=detail, error=error.kind, refusal=True)


def said(error: RankError) -> str:
    """Return an error in a line."""
    return f"{error.kind}: {error.message}"
