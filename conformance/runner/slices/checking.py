"""A slice held against itself: its note against its log, and each record against what the slice was to draw.

Both are files, which somebody may have changed or mixed up. What is asked here keeps a part of a run from passing for
all of it, and a failure from passing for a refusal. Who changes note and log alike is not found out: a verdict on
slices that were read says that it rests on files.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from conformance.runner.dialects import operations, suites
from conformance.runner.draws import LONGEST
from conformance.runner.log.header import CASE_LIMIT, DECK, SLICE
from conformance.runner.log.reading import LogError
from conformance.runner.origins import NUMBERS
from conformance.runner.outcomes import UNJUDGED
from conformance.runner.plan import PROFILES, Plan
from conformance.runner.records.origin import Origin, origin_of
from conformance.runner.records.record import CaseRecord, Footer, Header
from conformance.runner.slices.note import FILE, Note, plan_digest
from conformance.runner.slices.units import OWN, RANGE, units_in
from conformance.vectors.deck import deck

_KEEP: Final = "keep both as they were made"


def plan_of(header: Header, where: str) -> Plan:
    """Return the plan that the header of a slice's log names; raise ``LogError`` for one that is none."""
    strange = sorted({*header.ops} - operations().keys()) + sorted({*header.suites} - suites().keys())
    limit = _seconds(header.environment.get(CASE_LIMIT, "20"))
    for wrong, told in (
        (bool(strange), f"{', '.join(strange[:3])!r:.80} is no operation and no suite of this version"),
        (len({*header.ops}) < len(header.ops), "an operation is named twice"),
        (len({*header.suites}) < len(header.suites), "a suite is named twice"),
        (header.profile not in PROFILES, f"{header.profile!r:.80} is no profile; profiles are {', '.join(PROFILES)}"),
        (not 0 < header.examples <= NUMBERS, f"{header.examples} is no number of examples"),
        (header.seed < 0, f"{header.seed} is no seed"),
        (limit is None, f"its {CASE_LIMIT} is no length of time"),
    ):
        if wrong:
            raise LogError(f"{where}: the header is that of no slice: {told}")
    assert limit is not None
    return Plan(
        ops=header.ops, examples=header.examples, seed=header.seed, suites=header.suites, profile=header.profile,
        case_limit=limit, decked=DECK in header.environment,
    )  # fmt: skip


def _seconds(said: str) -> float | None:
    try:
        found = float(said.partition(" ")[0])
    except ValueError:
        return None
    return found if 0 < found < math.inf else None


def check_slice(where: str, note: Note, header: Header, records: Sequence[CaseRecord], footer: Footer) -> Plan:
    """Return the plan of a slice whose note and records belong to its log; raise ``LogError`` where they do not."""
    plan = plan_of(header, where)
    said = header.environment.get(SLICE, "no slice")
    if said != f"{note.at}/{note.of}":
        raise LogError(f"{where}: {FILE} is of slice {note.at}/{note.of}, and the log of {said!r:.40}; {_KEEP}")
    if note.plan != plan_digest(plan):
        raise LogError(f"{where}: {FILE} is of another plan than the log; {_KEEP}")
    _check_counts(where, records, footer)
    _check_records(where, note, plan, records, {entry.name for entry in header.backends})
    _check_refused(where, note, records)
    return plan


def _check_counts(where: str, records: Iterable[CaseRecord], footer: Footer) -> None:
    written: Counter[tuple[str, str]] = Counter((record.backend, record.outcome) for record in records)
    for backend, counts in footer.counts.items():
        for outcome, count in counts.items():
            if (have := written[backend, outcome]) < count:
                raise LogError(
                    f"{where}: records are missing: the footer counts {count} {outcome} of {backend!r:.80}, "
                    f"the log has {have}; run the slice again"
                )


def _check_records(where: str, note: Note, plan: Plan, records: Iterable[CaseRecord], backends: set[str]) -> None:
    first = _first_units(plan)
    decked = {one.name for one in deck().cases} if plan.decked else set()
    for record in records:
        if record.backend not in backends:
            raise LogError(f"{where}: a record is of {record.backend!r:.80}, which the header does not name")
        if record.case not in decked and not _drawn(record, note, plan, first):
            raise LogError(
                f"{where}: the record of {record.case!r:.80}, from {record.origin!r:.80}, is of nothing that slice "
                f"{note.at} of {note.of} draws; run the slice again"
            )


def _first_units(plan: Plan) -> Mapping[tuple[str, str], tuple[int, int]]:
    """Return the place of the first unit of each suite and operation among all units, and how many it has."""
    found: dict[tuple[str, str], tuple[int, int]] = {}
    place = 0
    for draws in plan.draws():
        count = units_in(draws)
        found[draws.suite, draws.op] = place, count
        place += count
    return found


def _drawn(record: CaseRecord, note: Note, plan: Plan, first: Mapping[tuple[str, str], tuple[int, int]]) -> bool:
    """Return whether a record names a draw of a unit of its slice."""
    origin = origin_of(record.origin or "")
    if origin is None or origin.seed != plan.seed or (origin.suite, origin.op) not in first:
        return False
    begin, count = first[origin.suite, origin.op]
    unit = _unit(origin)
    return 0 <= unit < count and (begin + unit) % note.of == note.at - 1


def _unit(origin: Origin) -> int:
    """Return which unit of its suite and operation made a draw: those for one backend alone have numbers of theirs."""
    return origin.number // RANGE if origin.number < OWN else (origin.number - OWN) // (RANGE * LONGEST)


def _check_refused(where: str, note: Note, records: Iterable[CaseRecord]) -> None:
    """Raise ``LogError`` for a refusal that no record tells: it would excuse what is wrong."""
    raised = {
        (record.backend, record.case)
        for record in records
        if record.outcome not in (*UNJUDGED, "passed") and record.error is not None
    }
    for backend, cases in note.refused.items():
        other = next((case for case in cases if (backend, case) not in raised), None)
        if other is not None:
            raise LogError(
                f"{where}: {FILE} says that {backend!r:.80} refused {other!r:.80}, and no record of the log says so; "
                f"{_KEEP}"
            )
