"""Counting: what the cases say of one backend, operation and clause, and the state that follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, Literal, get_args

import msgspec

from conformance.judging.clause import Requirement
from conformance.runner.outcomes import FAILING, OUTCOMES
from conformance.runner.records.record import CaseRecord

State = Literal["fail", "should_fail", "known", "differs", "pass", "shadowed", "unsupported", "not_run"]
STATES: Final[tuple[State, ...]] = get_args(State)
"""Worst first."""

SEVERITY: Final[dict[str, int]] = {"must": 0, "should": 1, "may": 2}

_TOLD: Final[dict[str, State]] = {
    "must": "fail", "should": "should_fail", "known": "known", "may": "differs", "held": "pass", "shadowed": "shadowed",
}  # fmt: skip
"""The state that each word of a tally gives a cell; the first that counts anything decides."""

COUNTED: Final = ("cases", "held", "must", "should", "may", "known", "shadowed")


class Tally(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Numbers of distinct cases.

    ``held``: the clause held, or the operation passed. ``must``, ``should``, ``may``: the clause (of an operation: the
    worst clause) is to blame, by requirement. ``known``: it is to blame, and the failure is known. ``shadowed``: the
    clause was broken, but another one is to blame.
    ``outcomes``: by outcome of the case.
    """

    cases: int = 0
    held: int = 0
    must: int = 0
    should: int = 0
    may: int = 0
    known: int = 0
    shadowed: int = 0
    outcomes: dict[str, int] = {}


def freeze(counts: Mapping[str, int]) -> Tally:
    """Return words counted as a tally."""
    return Tally(
        **{word: counts.get(word, 0) for word in COUNTED},
        outcomes={outcome: counts[outcome] for outcome in OUTCOMES if counts.get(outcome)},
    )


def state(tally: Tally) -> State:
    """Return the state of a cell: the worst that happened, otherwise the best that was shown."""
    told = next((found for word, found in _TOLD.items() if getattr(tally, word)), None)
    return told or ("unsupported" if tally.outcomes.get("unsupported") else "not_run")


def op_words(record: CaseRecord, blamed: Mapping[str, Requirement], known: AbstractSet[str]) -> Iterable[str]:
    """Yield what a case counts as for its operation; a failure no clause explains weighs like a *must*.

    ``known`` are the clauses that known failures are to blame for.
    """
    yield from ("cases", record.outcome)
    new = [requirement for clause, requirement in blamed.items() if clause not in known]
    worst = min(new, key=SEVERITY.__getitem__, default="must")
    if record.outcome in FAILING:
        yield "known" if blamed and not new else worst
    elif record.outcome == "passed":
        yield "held"


def clause_words(
    record: CaseRecord, clause: str, blamed: Mapping[str, Requirement], known: AbstractSet[str]
) -> Iterable[str]:
    """Yield what a case counts as for one clause that speaks about it; of a passed case only a *may* is broken.

    A divergence that a source documents counts like a *may*: it is told and never counted against a backend.
    """
    yield from ("cases", record.outcome)
    if clause in blamed:
        yield "known" if clause in known else blamed[clause]
    elif record.clauses.get(clause) == "broken":
        yield "may" if record.outcome == "passed" else "shadowed"
    elif record.clauses.get(clause) == "diverges":
        yield "may"
    elif record.clauses.get(clause) == "held":
        yield "held"


def speaking(record: CaseRecord, blamed: AbstractSet[str], known: Mapping[str, AbstractSet[str]]) -> AbstractSet[str]:
    """Return the clauses that speak about a case.

    A case that was not judged names none; then they are ``known`` from another backend that ran the same case.
    """
    return set(record.clauses) | blamed or known.get(record.case, set())


def total(counters: Iterable[Mapping[str, int]]) -> Counter[str]:
    """Return the sum of counted words."""
    result: Counter[str] = Counter()
    for counter in counters:
        result.update(counter)
    return result
