"""The verdict on what was given for a graph case."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from conformance.cases.declarations.number_model import NumberModel
from conformance.cases.observation import Observation
from conformance.judging.clause import Held
from conformance.judging.graphs.clause import GraphClause, GraphSeen, seen
from conformance.judging.graphs.subject import GraphSubject
from conformance.judging.keyed_values import concluded, said, unanswered
from conformance.judging.verdict import Verdict


def judge_graph(
    subject: GraphSubject,
    observation: Observation,
    clauses: Sequence[GraphClause],
    numbers: NumberModel,
    follows: Collection[str] = (),
) -> Verdict:
    """Return the verdict on an observation: ``passed``, ``failed``, or ``errored`` where a legal case raised.

    Where an index of a gather is no element's, or an axis is, who refuses is not wrong: ``unsupported``. Who
    ``follows`` a source that says something else passes with what that says.
    """
    error = observation.errors[0] if observation.errors else None
    if error is not None and error.category == "adapter":
        return Verdict(outcome="adapter_error", clauses={}, detail=said(error))
    if error is not None and error.category == "unsupported" and not subject.legal:
        return Verdict(outcome="unsupported", clauses={}, detail=said(error))
    if error is not None and subject.legal:
        if subject.undefined and error.category not in ("unsupported", "no_answer"):
            return Verdict(outcome="unsupported", clauses={}, detail=f"{subject.undefined}: {said(error)}")
        return unanswered(clauses, error)
    found = seen(subject, observation, numbers)
    diverged = _diverged(subject, found, clauses, follows) if found.wrongs.keys and follows else ()
    told: dict[str, Held] = dict.fromkeys(diverged, "diverges")
    return Verdict(outcome="passed", clauses=told) if told else concluded(clauses, subject, found, error)


def _diverged(
    subject: GraphSubject, found: GraphSeen, clauses: Sequence[GraphClause], follows: Collection[str]
) -> tuple[str, ...]:
    """Return the clauses of which a source that is followed says something else, which is all that was seen."""
    return tuple(
        clause.id
        for clause in clauses
        if clause.diverges
        and clause.when(subject)
        and any(each.source in follows and each.shown(subject, found) for each in clause.diverges)
    )
