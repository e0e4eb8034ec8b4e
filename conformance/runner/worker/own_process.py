"""This process, the runner: closed to those whom it judges, and parent of what they would leave behind."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator
from typing import Final

import psutil

_GET_DUMPABLE: Final = 3
_SET_DUMPABLE: Final = 4
_SET_CHILD_SUBREAPER: Final = 36

_supervisors: Final[set[int]] = set()
_adopts: bool = False


@contextlib.contextmanager
def closed() -> Iterator[None]:
    """Keep memory, descriptors and environment of this process from others of the same user, and take in strays.

    A worker could else rewrite them through ``/proc``. Linux alone has both; elsewhere nothing is done. A process that
    is closed cannot be attached to by a debugger either, and an OpenCL driver in it (PoCL) could not open its own
    memory: so it is done where workers are processes, while there are any.
    """
    global _adopts  # noqa: PLW0603 - it is a property of the process, too
    if not sys.platform.startswith("linux"):
        yield
        return
    before = _prctl(_GET_DUMPABLE, 0)
    _prctl(_SET_DUMPABLE, 0)
    _adopts = _prctl(_SET_CHILD_SUBREAPER, 1) == 0
    try:
        yield
    finally:
        _adopts = False
        _prctl(_SET_CHILD_SUBREAPER, 0)
        _prctl(_SET_DUMPABLE, before)


def started(supervisor: int) -> None:
    """Take note of a child that is no stray, and is in a session of its own."""
    _supervisors.add(supervisor)


def ended(supervisor: int) -> None:
    """Take note that its process id means nothing more."""
    _supervisors.discard(supervisor)


def strays() -> list[psutil.Process]:
    """Return the children that this process did not start: their parents have ended, and it is closed.

    What else it starts is in its own session, which nobody can enter.
    """
    if not _adopts:
        return []
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(OSError):
            if child.pid not in _supervisors and os.getsid(child.pid) != os.getsid(0):
                found.append(child)
    return found


def _prctl(option: int, value: int) -> int:
    return int(ctypes.CDLL(None).prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0))))
