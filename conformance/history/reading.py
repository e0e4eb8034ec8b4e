"""The outline of a run, read from its log: a million records in some seconds.

Logs of every format up to this suite's are read.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.history.error import HistoryError
from conformance.history.no_collections import no_collections
from conformance.history.outline import (
    CaseOutline,
    DrawnOutline,
    FailureOutline,
    FooterOutline,
    HeaderOutline,
    Key,
    Outline,
    SequenceOutline,
)
from conformance.runner.log.reading import LONGEST
from conformance.runner.log.storage import LOG, opened, stored
from conformance.runner.outcomes import OUTCOMES
from conformance.runner.records.record import FORMAT

_Line = HeaderOutline | CaseOutline | FailureOutline | SequenceOutline | DrawnOutline | FooterOutline

_DECODER: Final = msgspec.json.Decoder(_Line)

_NONE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What the decoder raises for what is no record."""


def read_outline(path: Path) -> Outline:
    """Return the outline of the run in a folder (or of a log file).

    Raise ``HistoryError``, naming the line, for anything but a run log of a format up to this suite's. A last line
    that a killed run left without its end is left out.
    """
    log = path if path.is_file() else path / LOG
    try:
        with opened(log) as file:
            content = file.read(LONGEST + 1)
    except FileNotFoundError:
        raise HistoryError(f"{path} holds no {LOG}; name the folder of a run") from None
    except (OSError, EOFError, zlib.error) as error:
        raise HistoryError(f"{stored(log)} cannot be read: {error}") from None
    if len(content) > LONGEST:
        raise HistoryError(f"{stored(log)} has more than {LONGEST >> 20} MiB, unpacked where it is compressed")
    return outline_in(log, content)


def outline_in(log: Path, content: bytes) -> Outline:
    """Return the outline of the run whose ``log`` has this content; raise as ``read_outline``."""
    with no_collections():
        return _outline(log, content)


def _outline(log: Path, content: bytes) -> Outline:
    records = _records(log, content)
    head = records[0] if records else None
    if not isinstance(head, HeaderOutline):
        raise HistoryError(f"{log}: a run log begins with a header line; without it start the run again")
    seen: dict[Key, CaseOutline] = {}
    others: list[FailureOutline | SequenceOutline] = []
    foot: FooterOutline | None = None
    for record in records[1:]:
        foot = record if isinstance(record, FooterOutline) else None
        if isinstance(record, CaseOutline):
            seen[record.backend, record.case] = record
        elif isinstance(record, FailureOutline | SequenceOutline):
            others.append(record)
        elif isinstance(record, HeaderOutline):
            raise HistoryError(f"{log}: holds a second header; a log is of one run, so keep each in its own folder")
    found = Outline(
        log,
        head,
        seen,
        tuple(one for one in others if isinstance(one, FailureOutline)),
        foot,
        hashlib.sha256(content).hexdigest(),
        tuple(one for one in others if isinstance(one, SequenceOutline)),
        {entry.name: entry for entry in head.backends},
    )
    _check(found)
    return found


def _records(log: Path, content: bytes) -> list[_Line]:
    """Return what each line says; a last line without its end is left out."""
    with suppress(*_NONE):
        _check_format(log, content[: content.find(b"\n")])
        found = _DECODER.decode_lines(content)
        if len(found) == content.count(b"\n"):  # else one has no end, or there are empty ones
            return found
    return list(_one_by_one(log, content))


def _one_by_one(log: Path, content: bytes) -> Iterator[_Line]:
    """Yield what each line says: who reads them all at once is not told which one is wrong."""
    lines = content.splitlines(keepends=True)
    checked = False
    for number, line in enumerate(lines, 1):
        if line == b"\n":
            continue
        try:
            if not checked:
                _check_format(log, line)
                checked = True
            record = _DECODER.decode(line)
        except _NONE as error:
            if number == len(lines) and not line.endswith(b"\n") and checked:
                return
            raise HistoryError(f"{log}:{number}: not a record of a run log: {error}") from None
        yield record


def _check(run: Outline) -> None:
    """Raise ``HistoryError`` for a record of a backend that the header does not name, or of an unknown outcome."""
    strange = {backend for backend, _ in run.counts} - run.entries.keys()
    if strange:
        raise HistoryError(f"{run.path}: has records of {min(strange)!r:.80}, which its header does not name")
    words = {outcome for _, outcome in run.counts} - set(OUTCOMES)
    if words:
        raise HistoryError(f"{run.path}: {min(words)!r:.80} is no outcome; known are {', '.join(OUTCOMES)}")


class _Form(msgspec.Struct, frozen=True):
    type: str = ""
    format: Any = FORMAT


def _check_format(log: Path, line: bytes) -> None:
    """Raise ``HistoryError`` for a log of a later format, whose fields may mean something else."""
    form = msgspec.json.decode(line, type=_Form)
    if form.type == "header" and not (isinstance(form.format, int) and 0 <= form.format <= FORMAT):
        raise HistoryError(
            f"{log}:1: the log has format {form.format!r:.40}; this version reads formats up to {FORMAT}: "
            "use the version of mesh-conformance that wrote it"
        )
