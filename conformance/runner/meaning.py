"""What a case means, asked of the oracle once."""

from __future__ import annotations

from functools import cache, partial
from typing import Final

from conformance.cases.case import Case
from conformance.cases.declarations.terms import Terms
from conformance.judging.applicability import Of
from conformance.judging.clause import Clause, held_to
from conformance.judging.collectives import evaluated
from conformance.judging.subject import Subject, under
from conformance.judging.verdict import Verdict, judge, judge_broken
from conformance.reference.rejection import Rejected
from conformance.runner.worker.answers import Answer, Broken
from conformance.specs import clauses_of, every_clause

NONE: Final = Terms()
"""The terms of a backend that guarantees nothing and follows nobody."""


def meaning(case: Case) -> Subject:
    """Return the case with its expected results, or with the clause it breaks; ``ValueError`` when malformed."""
    try:
        expected, alone = evaluated(case)
        return Subject(case, expected, alone=alone)
    except Rejected as rejection:
        # Its traceback has the blocks of the case, and itself.
        return Subject(case, rejected=rejection.with_traceback(None))


def verdict(subject: Subject, answer: Answer, terms: Terms = NONE) -> Verdict:
    """Return what the clauses of the case's operations say of an answer of a backend of these ``terms``."""
    of, subject = bound(terms), under(subject, terms.numbers)
    if isinstance(answer.result, Broken):
        if answer.result.outcome == "not_run":  # The backend never saw the case, so it breaks nothing.
            return Verdict(outcome="not_run", clauses={}, detail=answer.result.detail)
        return judge_broken(subject, answer.result.outcome, answer.result.detail, of, answer.result.error)
    return judge(subject, answer.result, of)


def bound(terms: Terms = NONE) -> Of:
    """Return what gives the clauses of an operation as a backend of these ``terms`` is held to them."""
    return partial(binding, terms=terms)


@cache
def binding(op: str, terms: Terms) -> tuple[Clause, ...]:
    """Return the clauses of ``op`` as a backend of these ``terms`` is held to them."""
    return held_to(clauses_of(op), terms)


@cache
def all_binding(op: str, terms: Terms) -> tuple[Clause, ...]:
    """Return the clauses that may be to blame for a case of ``op``: at the end its own, before them all others."""
    own = binding(op, terms)
    known = {clause.id for clause in own}
    return (*(each for each in held_to(tuple(every_clause().values()), terms) if each.id not in known), *own)
