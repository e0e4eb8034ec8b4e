"""Files that others can write, read once into memory of our own: never mapped, and never more than was allowed."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISREG
from typing import IO, Final

from conformance.cases.case_error import CaseError

_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
"""A pipe that nobody writes to must not hold up who opens it."""


def read_whole(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file of at most ``most`` bytes.

    A file that is mapped ends the process that reads it when another process cuts it. Raise ``CaseError`` for what is
    no regular file, is too long, cannot be read, or changes its length meanwhile; nothing is read of a file that is too
    long.
    """
    try:
        if not S_ISREG(path.stat().st_mode):  # opening some devices does something
            raise CaseError("it is not a regular file")
        with os.fdopen(os.open(path, _FLAGS), "rb") as file:
            return _content(file, most)
    except OSError as error:
        raise CaseError(f"it cannot be read: {error.strerror}") from None
    except ValueError as error:  # a NUL in its name
        raise error if isinstance(error, CaseError) else CaseError(f"it cannot be read: {error}") from None


def _content(file: IO[bytes], most: int) -> bytes:
    status = os.fstat(file.fileno())
    if not S_ISREG(status.st_mode):
        raise CaseError("it is not a regular file")
    if status.st_size > most:
        raise CaseError(f"it has {status.st_size} bytes, over the limit of {_shown(most)}")
    content = file.read(status.st_size + 1)
    if len(content) != status.st_size:
        raise CaseError(f"it changed while it was read: it had {status.st_size} bytes")
    return content


def _shown(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size} bytes"
