"""A bundle as a folder: the envelope, the slices, the page, and what stands beside them; read whole or refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from conformance.certificate.entries import Entry, entries_of, read_slices
from conformance.certificate.envelope import Envelope, read_envelope
from conformance.certificate.error import CertificateError
from conformance.certificate.merkle import root
from conformance.certificate.page import BADGE, PAGE
from conformance.certificate.statement import Statement, read_statement

ENVELOPE: Final = "statement.dsse.json"
CASES: Final = "cases"
SUMMARIES: Final = "verified"
"""The folder of a bundle in which the results of others who verified it are kept."""

LONGEST: Final = 16 << 20
"""Bytes of an envelope: that of the largest product has some hundred files."""


@dataclass(frozen=True)
class Bundle:
    """What a folder has; ``contents`` are the bytes of the slices."""

    folder: Path
    envelope: Envelope
    statement: Statement
    entries: tuple[Entry, ...]


def read_bundle(folder: Path) -> Bundle:
    """Return a bundle whose files are those of its statement; raise ``CertificateError`` for anything else."""
    envelope = open_envelope(folder)
    statement = read_statement(envelope.content)
    said = statement.predicate
    if len({each.file for each in said.slices}) < len(said.slices):
        raise CertificateError("the statement lists a slice twice")
    contents = list(read_slices(said.slices, folder))
    if root(contents) != said.root:
        raise CertificateError("the Merkle root of the records is not that of the statement")
    listed = {each.file for each in said.slices}
    known = {*listed, ENVELOPE, PAGE, BADGE, CASES, SUMMARIES}
    strange = sorted(path.name for path in folder.iterdir() if path.name not in known)
    if strange:
        raise CertificateError(f"{strange[0]!r:.80} is no file of a bundle and no slice of the statement; remove it")
    entries = [one for each, content in zip(said.slices, contents, strict=True) for one in entries_of(content, each)]
    if len(entries) != said.cases:
        raise CertificateError(f"there are {len(entries)} records; the statement says {said.cases}")
    return Bundle(folder, envelope, statement, tuple(entries))


def open_envelope(folder: Path) -> Envelope:
    """Return the envelope of a bundle; raise ``CertificateError`` where it is not there or none."""
    path = folder / ENVELOPE
    if path.is_symlink() or not path.is_file():
        raise CertificateError(
            f"{folder} is no bundle: it has no {ENVELOPE}, which `conformance certify` writes last", 3
        )
    return envelope_in(path)


def envelope_in(path: Path) -> Envelope:
    """Return the envelope in a file; raise ``CertificateError`` where it is a link, a pipe, too long or none."""
    if path.is_symlink() or not path.is_file():
        raise CertificateError(f"{path} is no file of its own")
    if path.stat().st_size > LONGEST:
        raise CertificateError(f"{path} has more than {LONGEST >> 20} MiB")
    return read_envelope(path.read_bytes(), str(path))


def write_envelope(envelope: Envelope, path: Path) -> None:
    """Write an envelope, whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(msgspec.json.format(msgspec.json.encode(envelope)) + b"\n")
    part.replace(path)
