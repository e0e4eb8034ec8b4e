"""A slice handed to the run that asked for it: its note and log, as the process that judged it wrote them.

Its files lie where the workers of later slices can write; what a run joins are the bytes that its own processes wrote.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable
from dataclasses import dataclass

from conformance.runner.log.copy import Copy
from conformance.runner.log.reading import read_lines
from conformance.runner.records.record import Record
from conformance.runner.slices.note import Note, parsed


@dataclass(frozen=True)
class HandedSlice:
    """A slice as its process wrote it: the note, the records, and the digest and bytes of the log.

    The records are kept as the lines that they are, compressed: as values they take ten times as much and more.
    """

    note: Note
    records: Iterable[Record]
    digest: str
    length: int


def read_handed(content: bytes, where: str) -> HandedSlice:
    """Return the slice of a line with its note and of its log; raise ``LogError``, which names it, where it is none."""
    head, _, log = content.partition(b"\n")
    read_lines(io.BytesIO(log), where)
    kept = Copy()
    kept.write(log)
    kept.end()
    return HandedSlice(parsed(head, where), kept, hashlib.sha256(log).hexdigest(), len(log))
