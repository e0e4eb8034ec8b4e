"""The verdict on an observation of a typed case."""

from __future__ import annotations

from conformance.cases.observation import Observation, RankError
from conformance.judging.cause import error_of
from conformance.judging.clause import Held, Outcome
from conformance.judging.typed import TypedClause
from conformance.judging.verdict import Verdict
from conformance.reference.types.meaning import TypedMeaning
from conformance.specs.types.clauses import CLAUSES


def speaking(meaning: TypedMeaning) -> tuple[TypedClause, ...]:
    """Return the clauses that speak about a case, the most particular last."""
    return tuple(clause for clause in CLAUSES if clause.when(meaning))


def judge(meaning: TypedMeaning, seen: Observation) -> Verdict:
    """Return what the clauses say. An exception that says *not implemented* is no verdict of the implementation.

    Of a program that is refused only refusal is asked; a legal one that raised has no values to compare.
    """
    error = next((error for error in seen.errors if error is not None), None)
    if error is not None and error.category == "adapter":
        return Verdict(outcome="adapter_error", clauses={}, detail=error.message)
    if error is not None and _not_implemented(error):
        return Verdict(outcome="unsupported", clauses={}, detail=error.message)
    asked = speaking(meaning)
    if error is not None and meaning.refused is None and meaning.not_linear is None:
        return _errored(meaning, asked, seen, error)
    problems = {clause: clause.check(meaning, seen) for clause in asked}
    held: dict[str, Held] = {clause.id: "broken" if problem else "held" for clause, problem in problems.items()}
    broken = [(clause, problem) for clause, problem in problems.items() if problem and clause.requirement != "may"]
    if not broken:
        return Verdict(outcome="passed", clauses=held)
    blame, detail = broken[-1]
    return Verdict(outcome="failed", clauses=held, blame=blame, detail=detail, error=error_of(seen))


def _errored(meaning: TypedMeaning, asked: tuple[TypedClause, ...], seen: Observation, error: RankError) -> Verdict:
    """Blame acceptance, and of a transpose the rule of its last operation."""
    blame = next((clause for clause in asked if clause.id == "types.C11"), asked[-1])
    outcome: Outcome = "errored"
    detail = f"raised {error.kind}: {error.message.splitlines()[0] if error.message else 'without a message'}"
    del meaning
    return Verdict(outcome=outcome, clauses={blame.id: "broken"}, blame=blame, detail=detail, error=error_of(seen))


def _not_implemented(error: RankError) -> bool:
    return error.category == "unsupported" or "not implemented" in error.message.lower()
