"""A process forked from a parent that has imported Torch already."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import itertools
import os
import signal
import sys
import traceback
from collections.abc import Callable, Collection
from typing import Final, NoReturn

LIBC: Final = ctypes.CDLL(None)
"""Opened here, for all children."""

PDEATHSIG: Final = 1
"""``PR_SET_PDEATHSIG`` of Linux's ``prctl``."""


class Child:
    """A forked process that lives ``life`` and has no descriptors but the standard ones and ``kept``."""

    def __init__(self, life: Callable[[], None], kept: Collection[int]) -> None:
        """Fork."""
        self._end: str | None = None
        parent = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            _live(life, kept, parent)

    def kill(self) -> None:
        """End the process now."""
        self._signal(signal.SIGKILL)

    def pause(self) -> None:
        """Have all threads of the process stand still until ``resume``."""
        if sys.platform == "linux":  # Elsewhere one that stands still would outlive a parent that is killed.
            self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let the process go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        if self._end is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, number)

    def ended(self) -> bool:
        """Return whether the process has ended, without waiting."""
        return self._reaped(os.WNOHANG) is not None

    def end(self) -> str:
        """Wait for the end of the process and return how it ended."""
        end = self._reaped(0)
        assert end is not None
        return end

    def _reaped(self, options: int) -> str | None:
        if self._end is None:
            try:
                pid, status = os.waitpid(self._pid, options)
            except ChildProcessError:
                self._end = "ended, and somebody else took its exit status"
            else:
                self._end = _ending(os.waitstatus_to_exitcode(status)) if pid else None
        return self._end


def _ending(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"exited with status {code}"


def _live(life: Callable[[], None], kept: Collection[int], parent: int) -> NoReturn:
    """Live in this forked process, then end it without the parent's exit handlers."""
    status = 1
    try:
        _die_with(parent)
        # A collection would touch, and so copy, every object inherited.
        gc.freeze()
        # Descriptors of the parent and of other children: while one is held here, the end of its owner never shows.
        for low, high in itertools.pairwise([2, *sorted(kept), os.sysconf("SC_OPEN_MAX")]):
            os.closerange(low + 1, high)
        life()
        status = 0
    except BaseException:  # noqa: BLE001 - a child must not return into the parent's code
        traceback.print_exc()
    finally:
        os._exit(status)


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when ``parent`` ends, however it ends."""
    if sys.platform == "linux":
        LIBC.prctl(PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
