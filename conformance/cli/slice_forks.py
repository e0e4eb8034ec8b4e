"""Processes that a template forked (``slice_template``), as who asked for them sees them."""

from __future__ import annotations

import contextlib
import select
import socket
import subprocess
import sys
import threading
from typing import Final

from conformance.cli.slice_job import FORK, TERMINATE

FORKS: Final = sys.platform == "linux"
"""Whether processes are forked. Elsewhere libraries of the system do not outlive a fork, and each is started."""

LOOK: Final = 0.1
"""Seconds that its end is waited for at a time: meanwhile another thread may tell it to end."""

UNTOLD: Final = 1
"""The status of a process whose template ended before it."""


class Forked:
    """A process that was forked elsewhere, in the words of ``subprocess.Popen``."""

    def __init__(self, control: socket.socket) -> None:
        """Take the socket on which its end is told."""
        self._control, self._lock = control, threading.Lock()
        self._status: int | None = None

    def poll(self) -> int | None:
        """Return how it ended, as a number, ``None`` where it has not."""
        return self._ended(0.0)

    def wait(self) -> int:
        """Return how it ended, once it has."""
        while (status := self._ended(LOOK)) is None:
            pass
        return status

    def terminate(self) -> None:
        """Send it SIGTERM, where it has not ended."""
        with self._lock, contextlib.suppress(OSError):
            if self._status is None:
                self._control.send(TERMINATE)

    def _ended(self, timeout: float) -> int | None:
        with self._lock:
            if self._status is None and select.select([self._control], [], [], timeout)[0]:
                try:
                    self._status = int(self._control.recv(16) or UNTOLD)
                except OSError:
                    self._status = UNTOLD
                self._control.close()
            return self._status


class Template:
    """A process that others are forked from."""

    def __init__(self) -> None:
        """Start it; it takes requests once it has imported what they need."""
        self._asks, asked = socket.socketpair()
        with asked:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "conformance.cli.slice_template", str(asked.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=(asked.fileno(),),
            )

    @property
    def pid(self) -> int:
        """Return the number of the process."""
        return self._popen.pid

    def forked(self, stdin: int, output: int, pipe: int) -> Forked:
        """Return a process that judges slices, on these descriptors."""
        ours, theirs = socket.socketpair()
        with theirs, contextlib.suppress(OSError):  # where the template has ended the process has, too
            socket.send_fds(self._asks, [FORK], [stdin, output, pipe, theirs.fileno()])
        return Forked(ours)

    def ended(self) -> bool:
        """Return whether nothing is forked from it any more."""
        return self._popen.poll() is not None

    def close(self) -> None:
        """Let it end with the last process that was forked from it."""
        self._asks.close()
        self._popen.wait()
