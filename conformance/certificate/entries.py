"""The records of a certificate: a line a case, in slices of a thousand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from conformance.certificate.case_list import Listed
from conformance.certificate.error import CertificateError
from conformance.certificate.statement import Sha, Slice, Word
from conformance.judging.clause import Held, Outcome
from conformance.judging.numbers.classes import Class
from conformance.runner.records.record import CaseRecord

PER_SLICE: Final = 1000
LONGEST_SLICE: Final = 64 << 20
"""Bytes of a slice that are read: a thousand records have less than one of these 64 MiB."""


class Guise(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a case came to when it was asked: the digests of the case and of what was observed, and the verdict."""

    case: Sha
    outcome: Outcome
    clauses: dict[Word, Held] = {}
    blame: Word | None = None
    observation: Sha | None = None
    classes: tuple[Class, ...] = ()


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case: its place in the list, which draw it is, what it came to, and what it came to in another guise."""

    index: Annotated[int, Meta(ge=0)]
    origin: Word
    name: Annotated[str, Meta(max_length=4000)]
    plain: Guise
    disguised: Guise | None = None


def guise(digest: str, record: CaseRecord) -> Guise:
    """Return what a record says of the case with a digest."""
    return Guise(
        case=digest,
        outcome=record.outcome,
        clauses=record.clauses,
        blame=record.blame,
        observation=record.observation,
        classes=record.classes,
    )


def entry(one: Listed, name: str, plain: Guise, disguised: Guise | None) -> Entry:
    """Return the record of an entry of the list."""
    return Entry(index=one.place.index, origin=str(one.place.origin), name=name, plain=plain, disguised=disguised)


def write_slices(entries: Iterable[Entry], folder: Path) -> tuple[tuple[Slice, ...], list[bytes]]:
    """Write entries to files of ``folder``; return what each is and its bytes."""
    slices, contents, lines = [], [], [msgspec.json.encode(one, order="deterministic") + b"\n" for one in entries]
    for start in range(0, max(len(lines), 1), PER_SLICE):
        part = lines[start : start + PER_SLICE]
        content, name = b"".join(part), f"records-{start // PER_SLICE:04}.jsonl"
        (folder / name).write_bytes(content)
        slices.append(Slice(file=name, count=len(part), sha256=hashlib.sha256(content).hexdigest()))
        contents.append(content)
    return tuple(slices), contents


def read_slices(slices: Iterable[Slice], folder: Path) -> Iterator[bytes]:
    """Yield the bytes of each slice; raise ``CertificateError`` where one is missing or another."""
    for each in slices:
        path = folder / each.file
        if path.is_symlink() or not path.is_file():
            raise CertificateError(f"the slice {each.file} is missing; a bundle has each that its statement lists", 3)
        if path.stat().st_size > LONGEST_SLICE:
            raise CertificateError(f"the slice {each.file} has more than {LONGEST_SLICE >> 20} MiB")
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != each.sha256:
            raise CertificateError(f"the slice {each.file} is not the one of the statement: its digest differs")
        yield content


def entries_of(content: bytes, where: Slice) -> list[Entry]:
    """Return the records of a slice; raise ``CertificateError`` for a line that is none, and for a wrong number."""
    lines = content.split(b"\n")
    if lines.pop() != b"" or len(lines) != where.count:
        raise CertificateError(f"the slice {where.file} has {len(lines)} lines; the statement says {where.count}")
    try:
        found = [_decoder.decode(line) for line in lines]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CertificateError(f"the slice {where.file} has a line that is no record: {error}") from None
    for entry, line in zip(found, lines, strict=True):
        if msgspec.json.encode(entry, order="deterministic") != line:
            raise CertificateError(
                f"record {entry.index} is not spelled as the suite spells it: a field is there twice"
            )
    return found


_decoder: Final = msgspec.json.Decoder(Entry)

Guises = Mapping[str, Guise]
