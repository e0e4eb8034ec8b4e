"""What a case means, asked of the oracle once."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.judging.clause import Subject
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


def verdict(subject: Subject, answer: Answer) -> Verdict:
    """Return what the clauses of the case's operation say of an answer."""
    clauses = clauses_of(subject.step.op)
    if isinstance(answer.result, Broken):
        return judge_broken(subject, answer.result.outcome, answer.result.detail, clauses)
    return judge(subject, answer.result, clauses)
