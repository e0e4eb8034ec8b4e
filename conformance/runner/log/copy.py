"""A copy of the log in the runner's memory, which is what decides: a file could be changed by who is judged."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Final

from conformance.runner.log.reading import decoded
from conformance.runner.records.record import Record

CHUNK: Final = 1 << 16
"""Bytes decompressed at a time."""

LEVEL: Final = 1
"""Of compression: records shrink to a tenth at 100 MB/s, which is a microsecond each."""


class Copy:
    """The lines of a log, compressed."""

    def __init__(self) -> None:
        """Begin with no line."""
        self._packed = bytearray()
        self._packer = zlib.compressobj(LEVEL)
        self._ended = False

    def __len__(self) -> int:
        """Return the bytes that it takes."""
        return len(self._packed)

    def write(self, line: bytes) -> None:
        """Add a line, its end included."""
        self._packed += self._packer.compress(line)

    def end(self) -> None:
        """Add no more lines."""
        if not self._ended:
            self._packed += self._packer.flush()
            self._ended = True

    def lines(self) -> Iterator[bytes]:
        """Yield the lines, their ends included."""
        self.end()
        unpacker, rest = zlib.decompressobj(), b""
        for at in range(0, len(self._packed), CHUNK):
            *whole, rest = (rest + unpacker.decompress(self._packed[at : at + CHUNK])).splitlines(keepends=True) or [
                b""
            ]
            yield from whole
            if rest.endswith(b"\n"):
                yield rest
                rest = b""

    def __iter__(self) -> Iterator[Record]:
        """Yield the records."""
        return decoded(self.lines())
