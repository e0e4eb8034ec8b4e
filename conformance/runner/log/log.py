"""The run log, written: a line a record."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import IO

import msgspec

from conformance.runner.log.storage import pack, packed
from conformance.runner.records.record import Record


class Log:
    """A log being written: one line a record, on disk before the next case is judged."""

    def __init__(self, path: Path, *, keep: list[Record] | None = None) -> None:
        """Start the log at ``path``, or go on after the records in ``keep``."""
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        if keep is not None:
            fresh = path.with_suffix(".resumed")
            fresh.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in keep))
            fresh.replace(path)
            packed(path).unlink(missing_ok=True)
        self._file: IO[bytes] = path.open("ab" if keep is not None else "xb")

    def write(self, record: Record) -> None:
        """Append one record and hand it to the operating system."""
        try:
            self._file.write(msgspec.json.encode(record) + b"\n")
            self._file.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from None

    def close(self) -> None:
        """Close the file, and compress it if it is large; what could not be written was told when it was tried."""
        with contextlib.suppress(OSError):
            self._file.close()
            pack(self._path)
