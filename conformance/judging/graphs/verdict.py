"""The verdict on what was given for a graph case."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.cases.declarations.number_model import NumberModel
from conformance.cases.observation import Observation
from conformance.judging.graphs.clause import GraphClause, seen
from conformance.judging.graphs.subject import GraphSubject
from conformance.judging.keyed_values import concluded, said, unanswered
from conformance.judging.verdict import Verdict


def judge_graph(
    subject: GraphSubject, observation: Observation, clauses: Sequence[GraphClause], numbers: NumberModel
) -> Verdict:
    """Return the verdict on an observation: ``passed``, ``failed``, or ``errored`` where a legal case raised.

    Where an index of a gather is no element's, or an axis is, who refuses is not wrong: ``unsupported``.
    """
    error = observation.errors[0] if observation.errors else None
    if error is not None and error.category == "adapter":
        return Verdict(outcome="adapter_error", clauses={}, detail=said(error))
    if error is not None and error.category == "unsupported":
        if subject.legal:
            return unanswered(clauses, error)
        return Verdict(outcome="unsupported", clauses={}, detail=said(error))
    if error is not None and subject.legal:
        if subject.undefined:
            return Verdict(outcome="unsupported", clauses={}, detail=f"{subject.undefined}: {said(error)}")
        return unanswered(clauses, error)
    return concluded(clauses, subject, seen(subject, observation, numbers), error)
