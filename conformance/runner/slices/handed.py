"""A slice handed to the run that started it: its note and log, by a pipe that no judged process reaches.

Its files lie where the workers of later slices can write; what a run joins are the bytes that its own processes wrote.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from conformance.runner.log.reading import LONGEST, read_lines
from conformance.runner.records.record import Record
from conformance.runner.slices.note import Note, parsed

VARIABLE: Final = "CONFORMANCE_SLICE_PIPE"
"""What the environment of a slice calls the descriptor that it is handed over by."""


@dataclass(frozen=True)
class Handed:
    """A slice as its process wrote it: the note, the records, and the digest and bytes of the log."""

    note: Note
    records: list[Record]
    digest: str
    length: int


def taken() -> int | None:
    """Return the descriptor by which this process is to hand over its slice, and keep it from its children."""
    said = os.environ.pop(VARIABLE, "")
    if not said.isdecimal():
        return None
    with suppress(OSError, OverflowError):
        os.set_inheritable(int(said), False)
        return int(said)
    return None


def hand_over(descriptor: int, note: bytes, lines: Iterable[bytes]) -> None:
    """Write a slice, its note first, and close the descriptor."""
    with os.fdopen(descriptor, "wb") as file:
        file.write(note + b"\n")
        file.writelines(lines)


class Receiver:
    """What is read from a slice's pipe, in a thread, until the process has closed it."""

    def __init__(self) -> None:
        """Open the pipe."""
        self._read, self.write = os.pipe()
        self._content = bytearray()
        self._thread = threading.Thread(target=self._receive, daemon=True)

    def started(self) -> None:
        """Leave the end that is written to the process that was started, and read what it hands over."""
        os.close(self.write)
        self._thread.start()

    def _receive(self) -> None:
        with os.fdopen(self._read, "rb") as file:
            while len(self._content) <= LONGEST and (part := file.read(1 << 20)):
                self._content += part

    def received(self, where: str) -> Handed:
        """Return the slice of a process that has ended; raise ``LogError``, which names it, where it is none."""
        self._thread.join()
        head, _, log = bytes(self._content).partition(b"\n")
        records = read_lines(io.BytesIO(log), where)
        return Handed(parsed(head, where), records, hashlib.sha256(log).hexdigest(), len(log))
