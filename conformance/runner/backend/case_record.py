"""The record of a case: what is written of a verdict, and what is kept of one that fails."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from conformance.judging.clause import Outcome
from conformance.judging.verdict import Verdict
from conformance.runner.backend.failing_cases import Failed
from conformance.runner.dialect import Trial
from conformance.runner.outcomes import UNJUDGED
from conformance.runner.records.company import Company
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
    came_to: Mapping[Outcome, int] | None = None,
    unrepeated: Outcome | None = None,
    expected: Expected | None = None,
    met: tuple[int, ...] = (),
    refused: bool = False,
    origin: str | None = None,
    observation: str | None = None,
    company: Company | None = None,
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
        came_to=dict(came_to or {}),
        under_claimed=under_claimed,
        expected=expected,
        classes=judged.classes,
        shown=judged.shown,
        steps=judged.steps if judged.outcome in ("passed", "failed") else one.dialect.unanswered(one.subject),
        met=() if judged.outcome in UNJUDGED else met,
        bare=judged.outcome == "passed" and (refused or not one.facts.legal or not one.dialect.valued(one.subject)),
        origin=origin,
        observation=observation,
        company=company,
    )


def failed_of(one: Trial, record: CaseRecord, judged: Verdict, origin: int | None) -> Failed:
    """Return what is kept of a record: where something is to blame, also how large the case is."""
    if judged.blame is None:
        return Failed(record, judged, origin)
    return Failed(record, judged, origin, one.dialect.empty(one.case), one.dialect.size(one.case))


def flaky_record(seen: CaseRecord, came_to: Mapping[Outcome, int], why: str = "") -> CaseRecord:
    """Return the record of a case that ``came_to`` different outcomes, so often to each.

    ``seen`` is a record of it, whose detail is told, and ``why`` how it was asked.
    """
    times = sum(came_to.values())
    told = ", ".join(f"{outcome.replace('_', ' ')} {many} of {times} times" for outcome, many in came_to.items())
    said = seen.detail or seen.note
    return replace(
        seen,
        outcome="flaky",
        clauses={},
        blame=None,
        requirement=None,
        detail=f"{told}{f' ({why})' if why else ''}{f'; once: {said}' if said else ''}",
        error=None,
        note=None,
        unrepeated=None,
        came_to=dict(came_to),
        under_claimed=False,
        classes=(),
        shown=(),
        steps=(),
        met=(),
        bare=False,
        observation=None,
    )
