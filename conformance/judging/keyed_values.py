"""Clauses about values that have keys, as those of graphs and of sharded programs have, and the verdict on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from conformance.cases.observation import Observation, RankError
from conformance.judging.applicability import specificity
from conformance.judging.clause import Held, Requirement
from conformance.judging.verdict import Verdict
from conformance.reference.graph.evaluate import Worth
from conformance.reference.rejection import Rejected

Words = frozenset[str]
"""What a value is made of."""

Case = TypeVar("Case")
S = TypeVar("S")
F = TypeVar("F")


@dataclass(frozen=True)
class KeyedSubject(Generic[Case]):
    """A case and what its keys are worth, or the clause that it breaks.

    ``undefined`` says what it does that has no value in every system, where it does.
    """

    case: Case
    expected: Mapping[str, Worth] = field(default_factory=dict)
    undefined: str = ""
    rejected: Rejected | None = None

    @property
    def legal(self) -> bool:
        """Return whether the case has a meaning."""
        return self.rejected is None


@dataclass(frozen=True)
class Wrong:
    """The wrong value that is listed first: its key, what is wrong, and what it is made of."""

    key: str
    how: str
    detail: str
    words: Words


@dataclass(frozen=True)
class KeyedClause(Generic[S, F]):
    """One sentence. ``check`` returns ``None`` where it holds, else what was seen and what is right.

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


class HasTraits(Protocol):
    """A subject that knows what each of its values is made of."""

    @property
    def legal(self) -> bool:
        """Return whether the case has a meaning."""

    @property
    def traits(self) -> Mapping[str, Words]:
        """Return what each key is made of."""


class HasWrong(Protocol):
    """What was seen, with the wrong value that is listed first, if there is one."""

    @property
    def wrong(self) -> Wrong | None:
        """Return that value."""


class HasObservation(Protocol):
    """What was seen, with the observation that it was seen in."""

    @property
    def observation(self) -> Observation:
        """Return that observation."""


def illegal(subject: KeyedSubject[Any]) -> bool:
    """Return whether a case has no meaning."""
    return not subject.legal


def refused(subject: KeyedSubject[Any], found: HasObservation) -> str | None:
    """Find values of what has none."""
    return None if found.observation.raised else f"values were given; {subject.rejected} has none"


def as_argument(_: object, found: HasObservation) -> str | None:
    """Find a refusal that does not say that an argument was wrong."""
    for error in found.observation.errors:
        if error is not None and error.category not in ("invalid_argument", "unsupported"):
            return f"{error.kind} is no complaint about an argument: {error.message[:200]}"
    return None


def about(*words: str) -> Callable[[HasTraits], bool]:
    """Speak of cases some value of which is made of all of several words."""
    wanted = frozenset(words)
    return lambda subject: subject.legal and any(wanted <= each for each in subject.traits.values())


def right(*words: str) -> Callable[[object, HasWrong], str | None]:
    """Find the first wrong value, if it is made of all of several words."""
    wanted = frozenset(words)
    return lambda _, found: found.wrong.detail if found.wrong is not None and wanted <= found.wrong.words else None


def way(*hows: str) -> Callable[[object, HasWrong], str | None]:
    """Find the first wrong value, if it is wrong in one of several ways."""
    return lambda _, found: found.wrong.detail if found.wrong is not None and found.wrong.how in hows else None


def concluded(clauses: Sequence[KeyedClause[S, F]], subject: S, found: F, error: RankError | None) -> Verdict:
    """Return what the clauses that speak say of what was seen: ``passed``, or ``failed`` with the one to blame."""
    problems = [(clause, clause.check(subject, found)) for clause in clauses if clause.when(subject)]
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
