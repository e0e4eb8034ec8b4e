"""Slices read, and put together in the order of the draws: the same records for any number of slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from conformance.runner.log.header import DECK, SLICE, now
from conformance.runner.log.reading import LogError, read
from conformance.runner.outcomes import UNJUDGED
from conformance.runner.plan import Plan
from conformance.runner.records.origin import origin_of
from conformance.runner.records.record import CaseRecord, DrawnParts, Footer, Header
from conformance.runner.slices.checking import check_slice
from conformance.runner.slices.handed import HandedSlice
from conformance.runner.slices.note import Note, read_note, whole
from conformance.runner.slices.units import order_of, units_in
from conformance.vectors.deck import deck


@dataclass(frozen=True)
class Joined:
    """The run that slices make: its plan and header, records in order, what was drawn, and the backends' seconds."""

    plan: Plan
    header: Header
    records: Sequence[CaseRecord]
    drawn: DrawnParts
    seconds: Mapping[str, float]
    read: int = 0
    """Records that were read from files, and not handed over by the process that made them."""


def join_slices(directories: Sequence[Path], handed: Mapping[Path, HandedSlice] | None = None) -> Joined:
    """Return the run that slices make, each as it was ``handed`` over, or else as its folder has it.

    Raise ``LogError`` for a folder that is no slice or has files of different ones, for slices of different plans,
    suites, backends or claims, for two that are the same one, and ``MissingSliceError`` where one is missing.
    """
    held = handed or {}
    notes = [(each, held[each].note if each in held else read_note(each)) for each in directories]
    whole(notes)
    notes.sort(key=lambda one: one[1].at)
    headers: list[Header] = []
    plans: list[Plan] = []
    records: list[CaseRecord] = []
    parts: list[DrawnParts] = []
    seconds: Counter[str] = Counter()
    from_files = 0
    for directory, note in notes:
        header, *others = held[directory].records if directory in held else read(directory / "run.jsonl")
        if not isinstance(header, Header) or not others or not isinstance(others[-1], Footer):
            raise LogError(f"{directory} is a slice that never ended; run it again")
        headers.append(header)
        cases = [record for record in others if isinstance(record, CaseRecord)]
        plans.append(check_slice(str(directory), note, header, cases, others[-1]))
        records += cases
        from_files += 0 if directory in held else len(cases)
        parts += (record for record in others if isinstance(record, DrawnParts))
        seconds.update(others[-1].seconds_by_backend)
    first = headers[0]
    for (directory, _), header in zip(notes, headers, strict=True):
        _check_alike(directory, header, notes[0][0], first)
    plan = plans[0]
    said = {name: value for name, value in first.environment.items() if name != SLICE}
    header = replace(first, started=min((one.started for one in headers), default=now()), environment=said)
    ordered = tuple(in_order(plan, records, _refused(notes, records)))
    return Joined(plan, header, ordered, _drawn(plan, parts), seconds, from_files)


def _drawn(plan: Plan, parts: Iterable[DrawnParts]) -> DrawnParts:
    """Return what all slices drew: of a part nothing lies within claims where that is so of all its units."""
    spoke: dict[str, set[str]] = {}
    undrawn: set[str] = set()
    beyond: Counter[str] = Counter()
    for part in parts:
        for op, clauses in part.exercised.items():
            spoke.setdefault(op, set()).update(clauses)
        undrawn.update(part.undrawn)
        beyond.update(part.beyond)
    units = {draws.name: units_in(draws) for draws in plan.draws()}
    return DrawnParts(
        exercised={op: tuple(sorted(clauses)) for op, clauses in sorted(spoke.items())},
        undrawn=tuple(sorted(undrawn)),
        beyond=tuple(sorted(name for name, count in beyond.items() if count == units.get(name))),
    )


def _check_alike(directory: Path, header: Header, first: Path, like: Header) -> None:
    for field in ("spec_digest", "reference_digest", "suites", "ops", "seed", "profile", "examples", "backends"):
        if getattr(header, field) != getattr(like, field):
            raise LogError(f"{directory} has another {field.replace('_', ' ')} than {first}; join slices of one run")
    if header.environment.get(DECK) != like.environment.get(DECK):
        raise LogError(f"{directory} was asked another deck than {first}; join slices of one run")


def _refused(notes: Iterable[tuple[Path, Note]], records: Iterable[CaseRecord]) -> set[tuple[str, str]]:
    """Return the refusals, by backend and case, of operations that the backend answers no case of."""
    refused = {(backend, case) for _, note in notes for backend, cases in note.refused.items() for case in cases}
    answered = {
        (record.backend, record.op)
        for record in records
        if record.outcome not in UNJUDGED and (record.backend, record.case) not in refused
    }
    return {
        (record.backend, record.case)
        for record in records
        if (record.backend, record.case) in refused and (record.backend, record.op) not in answered
    }


def in_order(plan: Plan, records: Iterable[CaseRecord], excused: set[tuple[str, str]]) -> Iterable[CaseRecord]:
    """Yield records in the order of the deck and of the draws, of each backend and case the first.

    ``excused`` ones are refusals.
    """
    place = order_of(plan)
    decked = {one.name: number for number, one in enumerate(deck().cases)} if plan.decked else {}

    def key(record: CaseRecord) -> tuple[int, bool, int, str]:
        if record.case in decked:
            return -1, False, decked[record.case], record.backend
        origin = origin_of(record.origin or "")
        if origin is None:
            return len(place), False, 0, record.backend
        return place[origin.suite, origin.op], origin.claimed, origin.number, record.backend

    met: set[tuple[str, str]] = set()
    for record in sorted(records, key=key):
        name = record.backend, record.case
        if name not in met:
            met.add(name)
            yield _excused(record) if name in excused else record


def _excused(record: CaseRecord) -> CaseRecord:
    return replace(record, outcome="unsupported", clauses={}, blame=None, requirement=None, error=None)


def canonical(records: Iterable[CaseRecord]) -> list[CaseRecord]:
    """Return records without what two runs of the same draws need not have alike: times, and notes on processes."""
    return [replace(record, seconds=0.0, note=None) for record in records]
