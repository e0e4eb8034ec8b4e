"""The verdict on what was given for a graph case."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.cases.declarations.number_model import NumberModel
from conformance.cases.observation import Observation, RankError
from conformance.judging.applicability import specificity
from conformance.judging.clause import Held
from conformance.judging.graphs.clause import GraphClause, findings, seen
from conformance.judging.graphs.subject import GraphSubject
from conformance.judging.verdict import Verdict


def judge_graph(
    subject: GraphSubject, observation: Observation, clauses: Sequence[GraphClause], numbers: NumberModel
) -> Verdict:
    """Return the verdict on an observation: ``passed``, ``failed``, or ``errored`` where a legal case raised.

    Where an index of a gather is no element's, or an axis is, who refuses is not wrong: ``unsupported``.
    """
    error = observation.errors[0] if observation.errors else None
    if error is not None and error.category == "adapter":
        return Verdict(outcome="adapter_error", clauses={}, detail=_said(error))
    if error is not None and error.category == "unsupported":
        return _wordless(subject, clauses, error)
    if error is not None and subject.legal:
        if subject.undefined:
            return Verdict(outcome="unsupported", clauses={}, detail=f"{subject.undefined}: {_said(error)}")
        first = clauses[0]
        held: dict[str, Held] = {first.id: "broken"}
        return Verdict(outcome="errored", clauses=held, blame=first, detail=_said(error), error=error.kind)
    held, details = findings(clauses, subject, seen(subject, observation, numbers))
    failing = [clause for clause in clauses if clause.id in details and clause.requirement != "may"]
    if not failing:
        return Verdict(outcome="passed", clauses=held)
    blame = max(failing, key=lambda clause: specificity(clause, clauses))
    return Verdict(outcome="failed", clauses=held, blame=blame, detail=details[blame.id], error=_kind(error))


def _wordless(subject: GraphSubject, clauses: Sequence[GraphClause], error: RankError) -> Verdict:
    """Return the verdict on who has no words for a case: of a legal one that no claim leaves out it is a refusal."""
    if not subject.legal:
        return Verdict(outcome="unsupported", clauses={}, detail=_said(error))
    first = clauses[0]
    return Verdict(
        outcome="failed",
        clauses={first.id: "broken"},
        blame=first,
        detail=f"refused, and no claim leaves it out: {_said(error)}",
        error=error.kind,
        refusal=True,
    )


def _kind(error: RankError | None) -> str | None:
    return None if error is None else error.kind


def _said(error: RankError) -> str:
    return f"{error.kind}: {error.message}"
