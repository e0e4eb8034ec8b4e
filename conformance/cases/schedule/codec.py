"""The schedule file: ``{"format": 2, "devices": ..., "buffers": ..., "items": ...}``, with a published JSON Schema."""

from __future__ import annotations

from pathlib import Path

import msgspec

from conformance.cases.case_error import CaseError
from conformance.cases.document import decoded
from conformance.cases.graph.validate import check_count
from conformance.cases.json_text import pretty
from conformance.cases.schedule.form import validate_schedule
from conformance.cases.schedule.schedule import FORMAT, READ, Schedule
from conformance.cases.schedule.work import schedule_work
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.stored import read_document
from conformance.cases.whole_file import write_whole
from conformance.cases.work import check_work


class ScheduleFile(Schedule, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A schedule and the version of the form it is written in."""

    format: int


def save_schedule(schedule: Schedule, path: Path) -> None:
    """Write ``schedule`` to ``path``; the same schedule gives the same bytes.

    Raise ``ScheduleError`` when it is malformed, and ``OSError`` when it cannot be written.
    """
    validate_schedule(schedule)
    write_whole(path, text(schedule).encode())


def text(schedule: Schedule) -> str:
    """Return the canonical JSON of a schedule."""
    return pretty({"format": FORMAT, **msgspec.to_builtins(schedule, order="deterministic")})


def load_schedule(path: Path) -> Schedule:
    """Return the schedule in the file ``path``; raise ``ScheduleError``, one line, for anything but a sound one."""
    try:
        return parse(read_document(path))
    except ScheduleError as error:
        raise ScheduleError(error.clause, f"schedule file {path}: {error}") from None
    except CaseError as error:
        raise ScheduleError("form.C0", f"schedule file {path}: {error}") from None


def parse(content: bytes) -> Schedule:
    """Return the schedule in a document; raise ``ScheduleError`` for anything but a sound one."""
    try:
        document = decoded(content, ScheduleFile, *READ)
        schedule = Schedule(**{name: getattr(document, name) for name in Schedule.__struct_fields__})
        if schedule.graph is not None:
            check_count(schedule.graph)
        check_work(schedule_work(schedule))
    except CaseError as error:
        raise ScheduleError("form.C0", str(error)) from None
    validate_schedule(schedule)
    return schedule
