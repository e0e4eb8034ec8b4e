"""Memory that was freed goes back to the system: the allocator would keep what a few large cases took at once."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Final

EVERY: Final = 1024
"""Cases after which it is given back. After 100,000 cases a run held 312 MB, of which 218 MB were free (glibc)."""


def give_back() -> None:
    """Let the allocator give back what is free, where it can be asked to; a few milliseconds."""
    _trim()()


@cache
def _trim() -> Callable[[], object]:
    if not sys.platform.startswith("linux"):
        return lambda: None
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return (lambda: trim(0)) if trim is not None else lambda: None
