"""What a case means, asked of the oracle once."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from conformance.cases.case import Case
from conformance.judging.clause import Clause, Subject, held_to
from conformance.judging.verdict import Verdict, judge, judge_broken
from conformance.reference.rejected import Rejected
from conformance.reference.spmd import evaluate
from conformance.runner.answers import Answer, Broken
from conformance.specs import clauses_of


def meaning(case: Case) -> Subject:
    """Return the case with its expected results, or with the clause it breaks; ``ValueError`` when malformed."""
    try:
        return Subject(case, evaluate(case))
    except Rejected as rejection:
        return Subject(case, rejected=rejection)


def verdict(subject: Subject, answer: Answer, guarantees: Collection[str] = ()) -> Verdict:
    """Return what the clauses of the case's operation say of an answer of a backend that gives ``guarantees``."""
    clauses = binding(subject.step.op, frozenset(guarantees))
    if isinstance(answer.result, Broken):
        return judge_broken(subject, answer.result.outcome, answer.result.detail, clauses)
    return judge(subject, answer.result, clauses)


@cache
def binding(op: str, guarantees: frozenset[str]) -> tuple[Clause, ...]:
    """Return the clauses of ``op`` as a backend that gives ``guarantees`` is held to them."""
    return held_to(clauses_of(op), guarantees)
