"""Memory that was freed goes back to the system: the allocator would keep what a few large cases took at once."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

CASES: Final = 256
"""Cases after which it is given back. After 100,000 cases a run held 312 MB, of which 218 MB were free (glibc)."""

BYTES: Final = 4 << 20
"""The same in bytes of the blocks of cases: judging one of 3 MB takes some 40 MB for a moment."""


class ReleasedMemory:
    """Counts what was judged, and gives memory back now and then."""

    def __init__(self) -> None:
        """Begin to count."""
        self._cases = self._bytes = 0

    def add(self, size: int) -> None:
        """Count a case with blocks of ``size`` bytes, of which nothing is needed any more."""
        self._cases, self._bytes = self._cases + 1, self._bytes + size
        if self._cases >= CASES or self._bytes >= BYTES:
            self._cases = self._bytes = 0
            give_back()


@contextmanager
def collected_apart() -> Iterator[None]:
    """Leave what is there now out of collections of garbage until the end: modules, clauses, and what was imported.

    To go through these again and again took 8 % of a run.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def give_back() -> None:
    """Let the allocator give back what is free, where it can be asked to; a few milliseconds."""
    _trim()()


@cache
def _trim() -> Callable[[], object]:
    if not sys.platform.startswith("linux"):
        return lambda: None
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return (lambda: trim(0)) if trim is not None else lambda: None
