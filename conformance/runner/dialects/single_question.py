"""What dialects share whose cases are asked about once: the dialogue, and which clauses speak and are expected to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Never, Protocol, TypeVar

from conformance.cases.observation import Observation
from conformance.judging.clause import AnyClause
from conformance.judging.keyed_values import KeyedSubject
from conformance.judging.verdict import Verdict
from conformance.runner.dialect import Ask, Dialogue
from conformance.runner.worker.answers import Broken, Request

S_contra = TypeVar("S_contra", contravariant=True)


class Speaking(AnyClause, Protocol[S_contra]):
    """A clause that knows which cases it is about."""

    @property
    def when(self) -> Callable[[S_contra], bool]:
        """Return what says whether it is about a case."""


def ask_once(case: Request, judge: Callable[[Observation], Verdict], blame: Callable[[], AnyClause]) -> Dialogue:
    """Ask one request and judge what was seen; of a worker that gave nothing, ``blame`` tells the clause it breaks."""
    result = (yield Ask(case)).result
    if not isinstance(result, Broken):
        return judge(result)
    if result.outcome == "not_run":
        return Verdict(outcome="not_run", clauses={}, detail=result.detail)
    to_blame = blame()
    return Verdict(
        outcome=result.outcome,
        clauses={to_blame.id: "broken"},
        blame=to_blame,
        detail=result.detail,
        error=result.error,
    )


def speaking_among(clauses: Sequence[Speaking[S_contra]]) -> Callable[[S_contra], frozenset[str]]:
    """Return what gives the ids of those ``clauses`` that speak about a case."""
    return lambda subject: frozenset(clause.id for clause in clauses if clause.when(subject))


def expected_among(
    clauses: Sequence[AnyClause], op: str, suite: str
) -> Callable[[Sequence[str], Sequence[str]], frozenset[str]]:
    """Return what gives the ids of the clauses that a run must have made speak: each *must*, where its op is drawn."""
    musts = frozenset(clause.id for clause in clauses if clause.requirement == "must")
    return lambda ops, suites: musts if op in ops and suite in suites else frozenset()


def has_elements(subject: KeyedSubject[Any]) -> bool:
    """Return whether some value that a case asks for has an element."""
    return any(worth.array.size for worth in subject.expected.values())


def none_neutral(_: object) -> Iterator[Never]:
    """Yield no case: nothing of such a case is a special feature that it could do without."""
    yield from ()
