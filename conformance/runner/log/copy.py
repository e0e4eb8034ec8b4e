"""A copy of the log that only the runner has, which is what decides: a file could be changed by who is judged."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from typing import IO, Final

from conformance.runner.log.reading import decoded
from conformance.runner.nameless_file import nameless_file
from conformance.runner.records.record import Record

CHUNK: Final = 1 << 16
"""Bytes decompressed at a time."""

LEVEL: Final = 1
"""Of compression: records shrink to a tenth at 100 MB/s, which is a microsecond each."""

HELD: Final = 1 << 20
"""Bytes that are held in memory: those of some 20,000 records. A million would take 50 MB."""


class Copy:
    """The lines of a log, compressed: in memory, and what was before in a file without a name.

    Where that file cannot be written all is held in memory.
    """

    def __init__(self, held: int = HELD) -> None:
        """Begin with no line; ``held`` bytes at most are in memory."""
        self._packed = bytearray()
        self._packer = zlib.compressobj(LEVEL)
        self._ended = False
        self._held = held
        self._file: IO[bytes] | None = None
        self._filed = 0

    def __len__(self) -> int:
        """Return the bytes that it takes."""
        return self._filed + len(self._packed)

    def write(self, line: bytes) -> None:
        """Add a line, its end included."""
        self._packed += self._packer.compress(line)
        if len(self._packed) > self._held:
            self._put_away()

    def _put_away(self) -> None:
        """Write to the file what is held in memory; hold all that comes where there is no room for it."""
        try:
            if self._file is None:
                self._file = nameless_file(self)
            self._file.seek(self._filed)
            while self._packed:
                written = self._file.write(self._packed) or 0
                self._filed += written
                del self._packed[:written]
        except OSError:
            self._held = sys.maxsize

    def end(self) -> None:
        """Add no more lines."""
        if not self._ended:
            self._packed += self._packer.flush()
            self._ended = True

    def _parts(self) -> Iterator[bytes]:
        for at in range(0, self._filed, CHUNK):
            assert self._file is not None
            self._file.seek(at)
            yield self._file.read(min(CHUNK, self._filed - at))
        for at in range(0, len(self._packed), CHUNK):
            yield bytes(self._packed[at : at + CHUNK])

    def lines(self) -> Iterator[bytes]:
        """Yield the lines, their ends included."""
        self.end()
        unpacker, rest = zlib.decompressobj(), b""
        for part in self._parts():
            *whole, rest = (rest + unpacker.decompress(part)).splitlines(keepends=True) or [b""]
            yield from whole
            if rest.endswith(b"\n"):
                yield rest
                rest = b""

    def __iter__(self) -> Iterator[Record]:
        """Yield the records."""
        return decoded(self.lines())
