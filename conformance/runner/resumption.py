"""What an earlier run said is taken over, but for a sample that is asked again: a log can be changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import SystemRandom
from typing import Final

from conformance.cases.case_error import CaseError
from conformance.judging.verdict import Verdict
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.backend.failing_cases import Failed
from conformance.runner.dialects import name_of, operations
from conformance.runner.drawn_again import drawn_again
from conformance.runner.log.reading import LogError
from conformance.runner.outcomes import UNJUDGED
from conformance.runner.plan import Plan
from conformance.runner.records.origin import DECK, Origin, origin_of
from conformance.runner.records.record import CaseRecord, Record
from conformance.vectors.deck import deck

LEAST: Final = 20
"""Records of a backend that are asked again at least."""

PART: Final = 20
"""One record of so many is: where a tenth of a log is forged, 20 of its records miss that one time in eight."""


def take_over(backend: BackendRun, records: Sequence[Record], *, ask: bool = True) -> None:
    """Give ``backend`` the verdicts of its records, and have it ask some of them again; nobody can foresee which.

    Where nothing is to be asked again, ``ask`` is false.

    Of two records of a case the later one holds. Raise ``LogError`` where one that is to be asked again is of a case
    that neither the deck has nor the draw makes that the record names: nobody would come to it.
    """
    own = (record for record in records if isinstance(record, CaseRecord) and record.backend == backend.name)
    mine = list({record.case: record for record in own}.values())
    judged = [number for number, record in enumerate(mine) if record.outcome not in UNJUDGED]
    count = min(len(judged), max(LEAST, len(judged) // PART)) if ask else 0
    again = set(SystemRandom().sample(judged, count))
    for number, record in enumerate(mine):
        clauses = operations()[record.op].clauses(record.op, backend.terms)
        blame = next((clause for clause in clauses if clause.id == record.blame), None)
        known = Verdict(
            outcome=record.outcome,
            clauses=record.clauses,
            blame=blame,
            detail=record.detail,
            error=record.error,
            shown=record.shown,
            classes=record.classes,
        )
        if number in again:
            _check_made(backend, record)
        backend.resume(record, known, again=number in again)


def _check_made(backend: BackendRun, record: CaseRecord) -> None:
    said = record.origin or ""
    if said.startswith(DECK):
        made = any(one.name == record.case for one in deck().cases)
    else:
        origin = origin_of(said)
        made = origin is not None and origin.seed == backend.origins.seed and _name(backend, origin) == record.case
    if not made:
        raise LogError(
            f"the log has a record of {record.case!r:.80} on {record.backend!r:.80}, and what it names as its origin, "
            f"{said!r:.80}, is another case: the log was changed; start again in another folder with -o"
        )


def _name(backend: BackendRun, origin: Origin) -> str | None:
    try:
        return name_of(drawn_again(origin, backend.scope.claims))
    except CaseError:
        return None


def _place_in_deck(backend: BackendRun, failed: Failed) -> None:
    """Give a failing case that the record says is of the deck its text."""
    said = failed.record
    known = next((one for one in deck().cases if one.name == said.case), None)
    if known is None or not (said.origin or "").startswith(DECK):
        return
    failed.origin = backend.origins.keep(known.case, known.suite, said.origin)
    one = backend.origins.again(failed.origin)
    failed.empty, failed.size = one.dialect.empty(one.case), one.dialect.size(one.case)


def place_failing(backend: BackendRun, plan: Plan) -> None:
    """Give the failing cases of ``backend`` the draws that their records name, so that they can be drawn again."""
    for failed in backend.records.failing.kept.values():
        if failed.origin is not None:
            continue
        origin = origin_of(failed.record.origin or "")
        if origin is None:
            _place_in_deck(backend, failed)
            continue
        claims = backend.scope.claims.get(origin.op, {}) if origin.claimed else {}
        failed.origin = backend.origins.named(origin, replace(plan.of(origin.suite, origin.op), limits=claims))
        one = backend.origins.again(failed.origin)
        failed.empty, failed.size = one.dialect.empty(one.case), one.dialect.size(one.case)
