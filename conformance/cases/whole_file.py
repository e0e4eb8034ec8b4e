"""Files in folders that others can write: read once into memory of our own, written without a link being followed.

None is mapped, and of none is more read than was allowed.
"""

from __future__ import annotations

import errno
import os
import select
import tempfile
from pathlib import Path
from stat import S_ISREG
from typing import IO, Final

from conformance.cases.case_error import CaseError

_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
"""A pipe that nobody writes to must not hold up who opens it."""

PATIENCE: Final = 10.0
"""Seconds that whoever reads a pipe may take before it has room again."""


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


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is whole or not there, in place of whatever has its name; a link in its place is replaced.

    Raise ``OSError``, which names it, where it cannot be written.
    """
    try:
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=".part-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(part).chmod(0o644)  # mkstemp makes files private
            Path(part).replace(path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def write_into(path: Path, content: bytes, *, append: bool = False) -> None:
    """Write a file that a person or a service named, in its place: links are followed, and a pipe is written to.

    A pipe is given ``PATIENCE`` seconds to be read. Raise ``OSError``, which names the file, where that is in vain.
    """
    how = os.O_APPEND if append else os.O_TRUNC
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC | how, 0o644)
        try:
            left = memoryview(content)
            while left:
                if not select.select([], [file], [], PATIENCE)[1]:
                    raise OSError(errno.EAGAIN, "it is a pipe that nobody reads")
                left = left[os.write(file, left) :]
        finally:
            os.close(file)
    except OSError as error:
        unread = error.errno == errno.ENXIO
        raise OSError(error.errno, "nobody reads it" if unread else error.strerror, str(path)) from None


def own_folder(folder: Path) -> None:
    """Make a folder where there is none; raise ``OSError`` for what is none, and for a link, which leads elsewhere."""
    folder.mkdir(parents=True, exist_ok=True)
    if folder.is_symlink():
        raise OSError(errno.ELOOP, "it is a link, which leads elsewhere", str(folder))


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
