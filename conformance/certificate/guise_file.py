"""What cases came to, by the name of the case, in a file: memory keeps where each stands."""

from __future__ import annotations

from typing import IO

import msgspec

from conformance.certificate.entries import Guise


class GuiseFile:
    """Guises by the name of the case; the last that is put under a name counts."""

    def __init__(self, file: IO[bytes]) -> None:
        """Keep them in a file that is empty and open for both reading and writing."""
        self._file = file
        self._at: dict[str, tuple[int, int]] = {}
        self._end = 0

    def __contains__(self, name: str) -> bool:
        """Return whether something was put under a name."""
        return name in self._at

    def __getitem__(self, name: str) -> Guise:
        """Return what was put under a name last."""
        start, length = self._at[name]
        self._file.seek(start)
        return msgspec.json.decode(self._file.read(length), type=Guise)

    def put(self, name: str, guise: Guise) -> None:
        """Keep a guise under a name."""
        content = msgspec.json.encode(guise)
        self._file.seek(self._end)
        self._file.write(content)
        self._at[name] = self._end, len(content)
        self._end += len(content)
