"""What a case means, asked of the oracle once."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, partial

from conformance.cases.case import Case
from conformance.judging.clause import Clause, Subject, held_to
from conformance.judging.speaking import Of
from conformance.judging.verdict import Verdict, judge, judge_broken
from conformance.reference.rejected import Rejected
from conformance.reference.spmd import evaluate
from conformance.runner.answers import Answer, Broken
from conformance.specs import clauses_of, every_clause


def meaning(case: Case) -> Subject:
    """Return the case with its expected results, or with the clause it breaks; ``ValueError`` when malformed."""
    try:
        return Subject(case, evaluate(case))
    except Rejected as rejection:
        return Subject(case, rejected=rejection)


def verdict(subject: Subject, answer: Answer, guarantees: Collection[str] = ()) -> Verdict:
    """Return what the clauses of the case's operations say of an answer of a backend that gives ``guarantees``."""
    of = bound(guarantees)
    if isinstance(answer.result, Broken):
        if answer.result.outcome == "not_run":  # The backend never saw the case, so it breaks nothing.
            return Verdict(outcome="not_run", clauses={}, detail=answer.result.detail)
        return judge_broken(subject, answer.result.outcome, answer.result.detail, of)
    return judge(subject, answer.result, of)


def bound(guarantees: Collection[str]) -> Of:
    """Return what gives the clauses of an operation as a backend that gives ``guarantees`` is held to them."""
    return partial(binding, guarantees=frozenset(guarantees))


@cache
def binding(op: str, guarantees: frozenset[str]) -> tuple[Clause, ...]:
    """Return the clauses of ``op`` as a backend that gives ``guarantees`` is held to them."""
    return held_to(clauses_of(op), guarantees)


@cache
def all_binding(op: str, guarantees: frozenset[str]) -> tuple[Clause, ...]:
    """Return the clauses that may be to blame for a case of ``op``: at the end its own, before them all others."""
    own = binding(op, guarantees)
    known = {clause.id for clause in own}
    return (*(each for each in held_to(tuple(every_clause().values()), guarantees) if each.id not in known), *own)
