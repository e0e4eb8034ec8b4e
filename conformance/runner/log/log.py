"""The run log, written: a line a record."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import IO

import msgspec

from conformance.cases.whole_file import write_whole
from conformance.runner.log.storage import pack, packed
from conformance.runner.records.record import Record


def line_of(record: Record) -> bytes:
    """Return a record as a line of the log, its end included."""
    return msgspec.json.encode(record) + b"\n"


class Log:
    """A log being written: one line a record, on disk before the next case is judged."""

    def __init__(self, path: Path, *, keep: list[Record] | None = None) -> None:
        """Start the log at ``path``, or go on after the records in ``keep``."""
        self._path = path
        self._digest = hashlib.sha256()
        self.length = 0
        """Bytes of all lines that were written."""
        self.unwritten = ""
        """Why the file lacks lines, where it could not be written: a full disk. What decides is in memory."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if keep is not None:
            lines = b"".join(map(line_of, keep))
            write_whole(path, lines)
            self._digest.update(lines)
            self.length += len(lines)
            packed(path).unlink(missing_ok=True)
        self._file: IO[bytes] = path.open("ab" if keep is not None else "xb")

    @property
    def digest(self) -> str:
        """Return the SHA-256 of all lines that were written, in hex, whatever the file has now."""
        return self._digest.hexdigest()

    def write(self, line: bytes) -> None:
        """Append a line and hand it to the operating system; where that fails, no line after it is."""
        if not self.unwritten:
            try:
                self._file.write(line)
                self._file.flush()
            except OSError as error:
                self.unwritten = error.strerror or type(error).__name__
        self._digest.update(line)
        self.length += len(line)

    def close(self) -> None:
        """Close the file, and compress it if it is large; what could not be written was told when it was tried."""
        with contextlib.suppress(OSError):
            self._file.close()
            pack(self._path)
