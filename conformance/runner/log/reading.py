"""The run log, read: a record a line."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from conformance.cases.case_error import CaseError
from conformance.cases.document import check_keys
from conformance.runner.log.storage import opened, stored
from conformance.runner.records.record import FORMAT, CaseRecord, Header, Record

DECODER: Final = msgspec.json.Decoder(Record)

LONGEST_LINE: Final = 16 << 20
"""Bytes of a line: the smallest case of 100,000 that fail alike names them all in 5 MB."""

LONGEST: Final = 512 << 20
"""Bytes of a log, unpacked where it is compressed: 1.3 million records."""


class LogError(ValueError):
    """A file is no run log, or not the log of this run."""


def read(path: Path) -> list[Record]:
    """Return the records of a log, compressed or not. A last line cut short by a killed run is left out.

    Raise ``LogError`` naming the line for anything else that is no record, or has a key twice, and for a log of another
    format.
    """
    with opened(path) as file:
        return read_lines(file, path, stored(path))


def read_lines(file: IO[bytes], path: Path | str, where: Path | str = "") -> list[Record]:
    """Return the records of an open log, called ``path``, as ``read`` does; ``where`` it lies, if it is compressed."""
    records: list[Record] = []
    common: dict[Any, Any] = {}
    for number, line in enumerate(_lines(file, where or path), 1):
        if not line.strip():
            continue
        try:
            if not records:
                _check_format(line, f"{path}:{number}")
            record = DECODER.decode(line)
            if msgspec.json.encode(record) != line.rstrip(b"\n"):  # it is not as it was written
                check_keys(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, CaseError) as error:
            if not line.endswith(b"\n"):
                break
            raise LogError(f"{path}:{number}: not a record of a run log: {error}") from None
        records.append(_shared(record, common) if isinstance(record, CaseRecord) else record)
    if not records or not isinstance(records[0], Header):
        raise LogError(
            f"{path}: a run log begins with a header line; without it nothing of the run can be used: start it again"
        )
    return records


class _Form(msgspec.Struct, frozen=True):
    """What every header has, of whatever format."""

    type: str = ""
    format: Any = "(none named)"


def _check_format(line: bytes, where: str) -> None:
    """Raise ``LogError`` for a header of another format, whose other fields may be others, or of none."""
    head = msgspec.json.decode(line, type=_Form)
    if head.type == "header" and head.format != FORMAT:
        raise LogError(f"{where}: the log has format {head.format}; this version reads format {FORMAT}")


def _lines(file: IO[bytes], where: Path | str) -> Iterator[bytes]:
    """Yield the lines of a log; raise ``LogError`` where it is compressed and damaged, or longer than is read."""
    number, total = 0, 0
    try:
        while line := file.readline(LONGEST_LINE + 1):
            number, total = number + 1, total + len(line)
            if len(line) > LONGEST_LINE:
                told = f"the line is longer than {LONGEST_LINE >> 20} MiB"
                raise LogError(f"{where}:{number}: not a record of a run log: {told}")
            if total > LONGEST:
                raise LogError(f"{where}:{number}: the log has more than {LONGEST >> 20} MiB up to this line")
            yield line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise LogError(f"{where}: a compressed log that is damaged: {error}; nothing was changed") from None


def decoded(lines: Iterable[bytes]) -> Iterator[Record]:
    """Yield the records of lines; what many of them have alike they have in common, so that it takes memory once."""
    common: dict[Any, Any] = {}
    for line in lines:
        record = DECODER.decode(line)
        yield _shared(record, common) if isinstance(record, CaseRecord) else record


def _shared(record: CaseRecord, common: dict[Any, Any]) -> CaseRecord:
    """Return the record with the clauses and words of an equal one that came before."""
    names = tuple(common.setdefault(name, name) for name in record.clauses)
    names, held = common.setdefault(names, names), tuple(record.clauses.values())
    clauses = common.get((names, held))
    if clauses is None:
        clauses = common[names, common.setdefault(held, held)] = dict(zip(names, held, strict=True))
    return msgspec.structs.replace(
        record,
        clauses=clauses,
        backend=common.setdefault(record.backend, record.backend),
        op=common.setdefault(record.op, record.op),
        dtype=common.setdefault(record.dtype, record.dtype),
        suite=common.setdefault(record.suite, record.suite),
        shown=common.setdefault(record.shown, record.shown),
        classes=common.setdefault(record.classes, record.classes),
        steps=tuple(common.setdefault(step, step) for step in record.steps),
    )
