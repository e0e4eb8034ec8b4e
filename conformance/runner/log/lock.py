"""A run's folder is written by one process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from conformance.runner.log.reading import LogError


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep every other run out of ``folder``, which is there; raise ``LogError`` where another is in it.

    The lock is the folder's own: it leaves no file, and a run that was killed leaves no lock. A file system that has no
    locks keeps nobody out.
    """
    held = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LogError(
                f"another run writes into {folder}: wait for its end, or choose another folder with -o"
            ) from None
        except OSError:
            pass
        yield
    finally:
        os.close(held)
