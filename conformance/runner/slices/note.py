"""What a slice knows beside its records: a file next to its log, by which slices are joined."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Final

import msgspec

from conformance.cases.document import check_keys
from conformance.cases.tensor.stored import read_document
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.log.reading import LogError
from conformance.runner.plan import Plan

FILE: Final = "slice.json"

MOST_SLICES: Final = 10_000
"""Parts of a run: a default run of all suites has some 3,000 units."""

Part = Annotated[int, msgspec.Meta(ge=1, le=MOST_SLICES)]


class Note(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Slice ``at`` of ``of`` units of a plan, by its digest.

    ``refused`` are the cases, by backend, that it refused although it claims them: they count only where it answers
    the operation anywhere.
    """

    at: Part
    of: Part
    plan: str
    refused: dict[str, tuple[str, ...]] = {}


def plan_digest(plan: Plan) -> str:
    """Return what slices of one plan have alike."""
    limit = f"{plan.case_limit:g}"  # as the header of a log has it
    said = [plan.suites, plan.ops, plan.seed, plan.profile, plan.examples, limit, plan.decked]
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()


def write_note(plan: Plan, backends: Iterable[BackendRun], directory: Path) -> bytes:
    """Write the note of a slice that was judged, and return what it says."""
    assert plan.slice is not None
    at, of = plan.slice
    refused = {backend.name: tuple(backend.refusals.told) for backend in backends}
    content = msgspec.json.encode(Note(at=at, of=of, plan=plan_digest(plan), refused=refused))
    (directory / FILE).write_bytes(content)
    return content


def read_note(directory: Path) -> Note:
    """Return the note in the folder of a slice; raise ``LogError`` where there is none, or one of something else."""
    if not os.path.lexists(directory / FILE):
        raise LogError(
            f"{directory} holds no {FILE}: it is no slice, or one that was cut short; `conformance run --slice K/N -o "
            f"{directory}` writes one"
        )
    try:
        content = read_document(directory / FILE)
    except (OSError, ValueError) as error:
        raise LogError(f"{directory / FILE} is no note of a slice: {error}") from None
    return parsed(content, str(directory / FILE))


def parsed(content: bytes, where: str) -> Note:
    """Return the note that was read ``where``; raise ``LogError`` for something else."""
    try:
        check_keys(content)
        note = msgspec.json.decode(content, type=Note)
    except (ValueError, RecursionError) as error:
        raise LogError(f"{where} is no note of a slice: {error}") from None
    if note.at > note.of:
        raise LogError(f"{where} is no note of a slice: there is no slice {note.at} of {note.of}")
    return note


def whole(notes: Sequence[tuple[Path, Note]]) -> None:
    """Raise ``LogError`` where slices are not all those of one plan, each once."""
    first, said = notes[0]
    for directory, note in notes:
        if (note.plan, note.of) != (said.plan, said.of):
            raise LogError(f"{directory} is slice {note.at} of {note.of} of another plan than {first}")
    by_place: dict[int, Path] = {}
    for directory, note in notes:
        if note.at in by_place:
            raise LogError(f"{directory} and {by_place[note.at]} are both slice {note.at} of {note.of}; leave one out")
        by_place[note.at] = directory
    missing = [at for at in range(1, said.of + 1) if at not in by_place]
    if missing:
        listed = ", ".join(map(str, missing[:10]))
        told = f"slice {listed} of {said.of} is" if len(missing) == 1 else f"slices {listed} of {said.of} are"
        raise MissingSliceError(f"{told} missing")


class MissingSliceError(LogError):
    """Slices of a plan are there, and not all."""
