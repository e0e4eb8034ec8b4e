"""The verdict on what was given for a sharded case."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.cases.declarations.number_model import NumberModel
from conformance.cases.observation import Observation, RankError
from conformance.judging.applicability import specificity
from conformance.judging.clause import Held
from conformance.judging.sharded.clause import ShardedClause, findings, seen
from conformance.judging.sharded.steps import steps_seen
from conformance.judging.sharded.subject import ShardedSubject
from conformance.judging.verdict import Verdict


def judge_sharded(
    subject: ShardedSubject, observation: Observation, clauses: Sequence[ShardedClause], numbers: NumberModel
) -> Verdict:
    """Return the verdict on an observation: ``passed``, ``failed``, or ``errored`` where a legal case raised.

    A case that a source refuses may be refused; what is given for it is held against what it means like any other.
    """
    error = next((each for each in observation.errors if each is not None), None)
    if error is not None and error.category == "adapter":
        return Verdict(outcome="adapter_error", clauses={}, detail=_said(error))
    if error is not None and subject.legal:
        if subject.undefined and not subject.refusable:
            return Verdict(outcome="unsupported", clauses={}, detail=f"{subject.undefined}: {_said(error)}")
        if not subject.refusable:
            return _unanswered(clauses, error)
    elif error is not None and error.category == "unsupported":
        return Verdict(outcome="unsupported", clauses={}, detail=_said(error))
    found = seen(subject, observation, numbers)
    held, details = findings(clauses, subject, found)
    steps = steps_seen(subject, found) if error is None and subject.legal else ()
    failing = [clause for clause in clauses if clause.id in details and clause.requirement != "may"]
    if not failing:
        return Verdict(outcome="passed", clauses=held, steps=steps)
    blame = max(failing, key=lambda clause: specificity(clause, clauses))
    kind = None if error is None else error.kind
    return Verdict(outcome="failed", clauses=held, blame=blame, detail=details[blame.id], error=kind, steps=steps)


def _unanswered(clauses: Sequence[ShardedClause], error: RankError) -> Verdict:
    """Return the verdict on who raised for a legal case, or has no words for one that no claim leaves out."""
    first = clauses[0]
    held: dict[str, Held] = {first.id: "broken"}
    if error.category != "unsupported":
        return Verdict(outcome="errored", clauses=held, blame=first, detail=_said(error), error=error.kind)
    said = f"refused, and no claim leaves it out: {_said(error)}"
    return Verdict(outcome="failed", clauses=held, blame=first, detail=said, error=error.kind, refusal=True)


def _said(error: RankError) -> str:
    return f"{error.kind}: {error.message}"
