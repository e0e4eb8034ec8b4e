"""The record of a case: what is written of a verdict, and what is kept of one that fails."""

from __future__ import annotations

from conformance.judging.clause import Outcome
from conformance.judging.verdict import Verdict
from conformance.runner.backend.failing_cases import Failed
from conformance.runner.dialect import Trial
from conformance.runner.outcomes import UNJUDGED
from conformance.runner.records.known import Expected
from conformance.runner.records.record import CaseRecord


def case_record(
    backend: str,
    one: Trial,
    judged: Verdict,
    seconds: float = 0.0,
    note: str | None = None,
    *,
    under_claimed: bool = False,
    unrepeated: Outcome | None = None,
    expected: Expected | None = None,
    met: tuple[int, ...] = (),
    refused: bool = False,
    origin: str | None = None,
    observation: str | None = None,
) -> CaseRecord:
    """Return the record of one case and backend; ``unrepeated`` is what it came to before it was run alone.

    ``met`` numbers what of the claims the case shows, if it is judged. It may pass because a legal
    one was ``refused``, as a source has it.
    """
    return CaseRecord(
        backend=backend,
        case=one.name,
        op=one.facts.op,
        suite=one.suite,
        dtype=one.facts.dtype,
        world=one.facts.world,
        outcome=judged.outcome,
        clauses=judged.clauses,
        seconds=round(seconds, 6),
        blame=judged.blame.id if judged.blame else None,
        requirement=judged.blame.requirement if judged.blame else None,
        detail=judged.detail,
        error=judged.error,
        note=note,
        unrepeated=unrepeated,
        under_claimed=under_claimed,
        expected=expected,
        classes=judged.classes,
        shown=judged.shown,
        steps=judged.steps if judged.outcome in ("passed", "failed") else one.dialect.unanswered(one.subject),
        met=() if judged.outcome in UNJUDGED else met,
        bare=judged.outcome == "passed" and (refused or not one.facts.legal or not one.dialect.valued(one.subject)),
        origin=origin,
        observation=observation,
    )


def failed_of(one: Trial, record: CaseRecord, judged: Verdict, origin: int | None) -> Failed:
    """Return what is kept of a record: where something is to blame, also how large the case is."""
    if judged.blame is None:
        return Failed(record, judged, origin)
    return Failed(record, judged, origin, one.dialect.empty(one.case), one.dialect.size(one.case))
