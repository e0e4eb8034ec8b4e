"""The verdict on what was given for a sharded case."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from conformance.cases.declarations.number_model import NumberModel
from conformance.cases.observation import Observation
from conformance.judging.keyed_values import concluded, said, unanswered
from conformance.judging.sharded.clause import ShardedClause, seen
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
        return Verdict(outcome="adapter_error", clauses={}, detail=said(error))
    if error is not None and subject.legal:
        if not observation.refused or not (subject.refusable or subject.undefined):
            return unanswered(clauses, error)
        if not subject.refusable:
            return Verdict(outcome="unsupported", clauses={}, detail=f"{subject.undefined}: {said(error)}")
    elif error is not None and error.category == "unsupported":
        return Verdict(outcome="unsupported", clauses={}, detail=said(error))
    found = seen(subject, observation, numbers)
    refused = error is not None and subject.legal  # no value was given that a clause could be about
    asked = [clause for clause in clauses if (clause.of_errors or not refused) and clause.told(subject, found)]
    verdict = concluded(asked, subject, found, error)
    return replace(verdict, steps=steps_seen(subject, found)) if error is None and subject.legal else verdict
