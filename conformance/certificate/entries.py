"""The records of a certificate: a line a case, in slices of a thousand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from conformance.certificate.case_list import ListPlace
from conformance.certificate.error import CertificateError, file_content
from conformance.certificate.merkle import root
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
    """Return what a record says of the case with a digest.

    What ended its process once, and passed when it was asked again, is flaky.
    """
    once_lost = record.unrepeated is not None and record.outcome == "passed"
    return Guise(
        case=digest,
        outcome="flaky" if once_lost else record.outcome,
        clauses=record.clauses,
        blame=record.blame,
        observation=record.observation,
        classes=record.classes,
    )


def entry(place: ListPlace, name: str, plain: Guise, disguised: Guise | None) -> Entry:
    """Return the record of an entry of the list."""
    return Entry(index=place.index, origin=str(place.origin), name=name, plain=plain, disguised=disguised)


def slice_name(number: int) -> str:
    """Return the name of the file of the slice with a number."""
    return f"records-{number:04}.jsonl"


def write_slices(entries: Iterable[Entry], folder: Path) -> tuple[tuple[Slice, ...], str]:
    """Write entries to files of ``folder``, a slice at a time; return what each file is and the Merkle root of all."""
    slices: list[Slice] = []
    rest = (msgspec.json.encode(one, order="deterministic") + b"\n" for one in entries)

    def contents() -> Iterator[bytes]:
        part = list(islice(rest, PER_SLICE))
        while part or not slices:
            content, name = b"".join(part), slice_name(len(slices))
            write_new(folder / name, content)
            slices.append(Slice(file=name, count=len(part), sha256=hashlib.sha256(content).hexdigest()))
            yield content
            part = list(islice(rest, PER_SLICE))

    found = root(contents())
    return tuple(slices), found


def write_new(path: Path, content: bytes) -> None:
    """Write a file of a bundle: never through a link that who is judged put there."""
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.write(content)


def slice_content(each: Slice, folder: Path) -> bytes:
    """Return the bytes of a slice; raise ``CertificateError`` where it is missing or another."""
    path = folder / each.file
    if path.is_symlink() or not path.is_file():
        raise CertificateError(f"the slice {each.file} is missing; a bundle has each that its statement lists", 3)
    content = file_content(path, LONGEST_SLICE)
    if hashlib.sha256(content).hexdigest() != each.sha256:
        raise CertificateError(f"the slice {each.file} is not the one of the statement: its digest differs")
    return content


def slice_lines(content: bytes, where: Slice) -> list[bytes]:
    """Return the lines of a slice; raise ``CertificateError`` for a wrong number of them."""
    lines = content.split(b"\n")
    if lines.pop() != b"" or len(lines) != where.count:
        raise CertificateError(f"the slice {where.file} has {len(lines)} lines; the statement says {where.count}")
    return lines


def entries_of(lines: Sequence[bytes], file: str) -> list[Entry]:
    """Return the records of lines of a file; raise ``CertificateError`` for a line that is none."""
    try:
        found = [_decoder.decode(line) for line in lines]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CertificateError(f"the slice {file} has a line that is no record: {error}") from None
    for entry, line in zip(found, lines, strict=True):
        if msgspec.json.encode(entry, order="deterministic") != line:
            raise CertificateError(
                f"record {entry.index} is not spelled as the suite spells it: a field is there twice"
            )
    return found


@dataclass(frozen=True)
class Records:
    """The records of a bundle: read from its slices whenever they are gone through, so that none is kept."""

    slices: tuple[Slice, ...]
    folder: Path

    def __len__(self) -> int:
        """Return how many there are, as the statement says."""
        return sum(each.count for each in self.slices)

    def __iter__(self) -> Iterator[Entry]:
        """Yield each; raise ``CertificateError`` for a slice that is another, and for a line that is no record."""
        for each, content in zip(self.slices, self.contents(), strict=True):
            yield from entries_of(slice_lines(content, each), each.file)

    def contents(self) -> Iterator[bytes]:
        """Yield the bytes of each slice; raise ``CertificateError`` where one is missing or another."""
        return (slice_content(each, self.folder) for each in self.slices)


_decoder: Final = msgspec.json.Decoder(Entry)
