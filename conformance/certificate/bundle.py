"""A bundle as a folder: the envelope, the slices, the page, and what stands beside them; read whole or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from conformance.cases.whole_file import write_whole
from conformance.certificate.entries import PER_SLICE, Records, slice_name
from conformance.certificate.envelope import Envelope, read_envelope
from conformance.certificate.error import CertificateError, file_content
from conformance.certificate.merkle import root
from conformance.certificate.page import BADGE, PAGE
from conformance.certificate.statement import Slice, Statement, read_statement

ENVELOPE: Final = "statement.dsse.json"
CASES: Final = "cases"
SUMMARIES: Final = "verified"
"""The folder of a bundle in which the results of others who verified it are kept."""

LONGEST: Final = 16 << 20
"""Bytes of an envelope: that of the largest product has some hundred files."""


@dataclass(frozen=True)
class Bundle:
    """What a folder has; its records are read from it when they are asked for."""

    folder: Path
    envelope: Envelope
    statement: Statement

    @property
    def records(self) -> Records:
        """Return the records."""
        return Records(self.statement.predicate.slices, self.folder)


def read_bundle(folder: Path) -> Bundle:
    """Return a bundle whose files are those of its statement; raise ``CertificateError`` for anything else."""
    envelope = open_envelope(folder)
    found = Bundle(folder, envelope, read_statement(envelope.content))
    said = found.statement.predicate
    if not _cut(said.slices, said.cases):
        raise CertificateError(
            f"the slices of the statement are not those of {said.cases} records: {slice_name(0)} and so on, each but "
            f"the last with {PER_SLICE}"
        )
    if root(found.records.contents()) != said.root:
        raise CertificateError("the Merkle root of the records is not that of the statement")
    known = {*(each.file for each in said.slices), ENVELOPE, PAGE, BADGE, CASES, SUMMARIES}
    strange = sorted(path.name for path in folder.iterdir() if path.name not in known)
    if strange:
        raise CertificateError(f"{strange[0]!r:.80} is no file of a bundle and no slice of the statement; remove it")
    return found


def _cut(slices: Sequence[Slice], cases: int) -> bool:
    """Return whether slices are those of so many records, none listed twice and none of another size."""
    if len(slices) != max(1, -(-cases // PER_SLICE)):
        return False
    left = cases - PER_SLICE * (len(slices) - 1)
    right = [(slice_name(number), PER_SLICE) for number in range(len(slices) - 1)]
    return [(each.file, each.count) for each in slices] == [*right, (slice_name(len(slices) - 1), left)]


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
    return read_envelope(file_content(path, LONGEST), str(path))


def write_envelope(envelope: Envelope, path: Path) -> None:
    """Write an envelope, whole or not at all."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(envelope)) + b"\n")
