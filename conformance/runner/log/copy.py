"""A copy of the log that nobody who is judged can reach by a name, so that the log need not be kept in memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from conformance.runner.log.reading import decoded
from conformance.runner.records.record import Record

CHUNK: Final = 1 << 16
"""Bytes decompressed at a time."""

LEVEL: Final = 1
"""Of compression: records shrink to a tenth at 100 MB/s, which is a microsecond each."""


class Copy:
    """The lines of a log, compressed, in a file without a name in the folder of the log."""

    def __init__(self, folder: Path) -> None:
        """Begin with no line; raise ``OSError`` where nothing can be written."""
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115 - it goes when nothing refers to it any more
        self._packer = zlib.compressobj(LEVEL)
        self._ended = False

    def __del__(self) -> None:
        """Close the file, where there is one, and so remove it."""
        if "_file" in vars(self):
            with suppress(OSError):  # Where the disk is full, whoever wrote the log has said so.
                self._file.close()

    def write(self, line: bytes) -> None:
        """Add a line, its end included."""
        self._file.write(self._packer.compress(line))

    def end(self) -> None:
        """Add no more lines."""
        if not self._ended:
            self._file.write(self._packer.flush())
            self._ended = True

    def lines(self) -> Iterator[bytes]:
        """Yield the lines, their ends included."""
        self.end()
        self._file.seek(0)
        unpacker, rest = zlib.decompressobj(), b""
        while part := self._file.read(CHUNK):
            *whole, rest = (rest + unpacker.decompress(part)).splitlines(keepends=True) or [b""]
            yield from whole
            if rest.endswith(b"\n"):
                yield rest
                rest = b""

    def __iter__(self) -> Iterator[Record]:
        """Yield the records."""
        return decoded(self.lines())
