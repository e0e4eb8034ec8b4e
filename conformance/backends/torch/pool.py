"""The rank processes of one world, forked from a parent that has imported Torch already."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import itertools
import os
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

from conformance.backends.torch import wire
from conformance.backends.torch.operation import Operation
from conformance.backends.torch.rank import serve

PDEATHSIG: Final = 1
"""``PR_SET_PDEATHSIG`` of Linux's ``prctl``."""


class Rank:
    """One rank process and the parent's end of its channel."""

    def __init__(self, pid: int, channel: socket.socket) -> None:
        """Own the process ``pid`` and ``channel``."""
        self.channel = channel
        self.inbox = wire.Inbox(channel)
        self._pid = pid
        self._end: str | None = None

    def kill(self) -> None:
        """End the process now; its channel then reports its end."""
        if self._end is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def reap(self) -> str:
        """Wait for the end of the process and return how it ended."""
        if self._end is None:
            self._end = self._reap()
        return self._end

    def _reap(self) -> str:
        self.channel.close()
        try:
            code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
        except ChildProcessError:
            return "ended, and somebody else took its exit status"
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"exited with status {code}"


class Pool:
    """The ranks of one world. ``groups`` are the groups of ranks they have made process groups for."""

    def __init__(self, world: int, timeout: float, operations: Mapping[str, Operation]) -> None:
        """Fork ``world`` ranks; each answers once when it has met the others. ``timeout`` in seconds is Gloo's."""
        self.groups: set[tuple[int, ...]] = set()
        self.ranks: list[Rank] = []
        self._store, self._path = _store()
        parent = os.getpid()
        for rank in range(world):
            ours, theirs = socket.socketpair()
            pid = os.fork()
            if pid == 0:
                life = partial(serve, theirs, rank, world, self._path, timeout, operations)
                _become_rank(theirs.fileno(), self._store, parent, life)
            theirs.close()
            self.ranks.append(Rank(pid, ours))

    def kill(self) -> None:
        """End every rank and wait for it."""
        for rank in self.ranks:
            rank.kill()
        for rank in self.ranks:
            rank.reap()
        os.close(self._store)
        if not self._path.startswith("/proc/"):
            Path(self._path).unlink()


def _store() -> tuple[int, str]:
    """Return the open file that ranks meet at, and its path; without a name where possible, so none is left behind."""
    if sys.platform == "linux":
        descriptor = os.memfd_create("store")
        return descriptor, f"/proc/self/fd/{descriptor}"
    return tempfile.mkstemp(prefix="conformance-torch-")


def _become_rank(channel: int, store: int, parent: int, life: Callable[[], None]) -> NoReturn:
    """Live the life of a rank in this forked process, then end it without the parent's exit handlers."""
    status = 1
    try:
        _die_with(parent)
        # A collection would touch, and so copy, every object inherited.
        gc.freeze()
        # Descriptors of the parent and of other ranks: while a rank holds them, their ends never show.
        kept = sorted({channel, store})
        for low, high in itertools.pairwise([2, *kept, os.sysconf("SC_OPEN_MAX")]):
            os.closerange(low + 1, high)
        life()
        status = 0
    except BaseException:  # noqa: BLE001 - a rank must not return into the parent's code
        traceback.print_exc()
    finally:
        os._exit(status)


def _die_with(parent: int) -> None:
    """Have the kernel kill this process when ``parent`` ends, however it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
