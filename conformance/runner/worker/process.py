"""One live backend process: private pipes that never block, bounded stderr, and an end that takes all with it."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import selectors
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import psutil

from conformance.runner.worker import own_process, supervisor
from conformance.runner.worker.launch import launched

GRACE: Final = 0.5
"""Seconds between SIGTERM and SIGKILL: an exit handler gets its turn, a stuck process costs little."""

CHUNK: Final = 1 << 16
LONGEST_REPLY: Final = 64 << 20
"""Bytes without a newline that end a backend: large tensors travel by file, so no honest line comes near."""

MOST_LINES: Final = 1024
"""Lines taken at once, far above any window: a flood must not keep the runner from its other workers."""

STDERR_KEPT: Final = 16 << 10

_NEVER: Final = 127
"""The status of a command that could not be started, as shells have it."""


class Process:
    """A running command in a session of its own under a supervisor, with line pipes to and from it."""

    def __init__(self, command: Sequence[str], *, sandboxed: bool = False) -> None:
        """Start ``command``; raise ``OSError`` when its supervisor cannot be started."""
        self.folder = Path(tempfile.gettempdir()) / f"conformance-{secrets.token_hex(8)}"
        """Where large cases and observations travel. The supervisor makes it, so that who is killed leaves none."""
        found = launched(command, self.folder, sandboxed=sandboxed)
        self._popen = found.popen
        own_process.started(found.popen.pid)
        self._requests, self._replies, self._errors = found.requests, found.replies, found.errors
        self._control, self._orders, self._ending = found.control, found.orders, found.ending
        self._unsent: deque[memoryview] = deque()
        self._partial = bytearray()
        self._stderr = bytearray()
        self._said = b""
        self._leader: psutil.Process | None = None
        self._end: tuple[str, int] | None = None
        self._tree: set[psutil.Process] = set()
        self.ended = False
        """Whether the reply pipe is at its end."""

    def members(self) -> list[psutil.Process]:
        """Return the supervisor and all below it that are there now."""
        try:
            supervising = psutil.Process(self._popen.pid)
            return [supervising, *supervising.children(recursive=True)]
        except psutil.Error:
            return []

    def descriptors(self) -> list[tuple[int, int]]:
        """Return the descriptors worth waiting for, each with its ``selectors`` events."""
        wanted = [(self._errors, selectors.EVENT_READ)] if self._errors >= 0 else []
        if not self.ended:
            wanted.append((self._replies, selectors.EVENT_READ))
        if self._unsent:
            wanted.append((self._requests, selectors.EVENT_WRITE))
        return wanted

    def send(self, line: bytes) -> None:
        """Queue a line and write what the pipe takes."""
        self._unsent.append(memoryview(line))
        self.write()

    def write(self) -> None:
        """Write as much of the queue as the pipe takes now."""
        try:
            while self._unsent:
                head = self._unsent[0]
                written = os.write(self._requests, head)
                if written < len(head):
                    self._unsent[0] = head[written:]
                else:
                    self._unsent.popleft()
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._unsent.clear()  # The reply pipe tells the rest of the story.

    def read(self) -> list[bytes]:
        """Return the reply lines that have arrived, and keep the end of what was written on stderr.

        Raise ``OverflowError`` for a line longer than ``LONGEST_REPLY``.
        """
        self._drain_errors()
        if self._leader is None:
            self.exit_status()
        lines: list[bytes] = []
        taken = 0
        while not self.ended:
            if len(self._partial) > LONGEST_REPLY:
                if lines:
                    break  # they came whole, and answer cases that are not to blame
                raise OverflowError(f"a reply line is longer than {LONGEST_REPLY >> 20} MiB")
            if (chunk := _read(self._replies)) is None:
                break
            self.ended = not chunk
            taken += len(chunk)
            head, *rest = chunk.split(b"\n")
            self._partial += head
            if rest:
                lines += [bytes(self._partial), *rest[:-1]]
                self._partial = bytearray(rest[-1])
            if len(lines) > MOST_LINES or taken > LONGEST_REPLY:
                break
        return lines

    def exit_status(self) -> int | None:
        """Return the status that the process has ended with as ``subprocess`` counts it, or ``None``.

        All that it had started has ended then, too. Where the supervisor was killed that is how it ended.
        """
        if self._end is None and self._ending >= 0:
            said = _read(self._ending)
            self._said += said or b""
            self._listen()
            if said == b"" and self._end is None:
                return self._popen.poll()
        if self._end is None:
            return None
        kind, number = self._end
        return -number if kind == "signal" else number if kind == "exit" else _NEVER

    def _listen(self) -> None:
        """Take what the supervisor told; of two endings the first is the worker's, the other that of its sandbox."""
        *lines, self._said = self._said.split(b"\n")
        for line in lines:
            kind, number = line.decode().split()
            if kind == "worker":
                with contextlib.suppress(psutil.Error):
                    self._leader = psutil.Process(int(number))
            elif self._end is None:
                self._end = kind, int(number)

    @property
    def unstarted(self) -> str:
        """Return why the command could not be started, or ``""``."""
        kind, number = self._end or ("", 0)
        return os.strerror(number) if kind == "unstarted" else ""

    def memory(self, enough: int) -> int:
        """Return the bytes of RAM the process tree holds, over ``enough`` with shared pages once."""
        held = sum(self._measure("rss"))
        # Forked ranks share most of their pages, which the plain sum counts once for each; telling is slower, and
        # Linux alone can.
        return held if held <= enough else sum(self._measure("pss"))

    def stop(self, seconds: float) -> str:
        """Ask for an orderly exit by closing the request pipe, wait at most ``seconds``, then kill what is left.

        Return how it ended where that was not in order, ``""`` where it was.
        """
        deadline = time.monotonic() + seconds
        self._note_tree()
        self._popen.send_signal(signal.SIGCONT)  # whom it watches may have stopped it
        while self._unsent and time.monotonic() < deadline and self.exit_status() is None:
            self._pause()
            self.write()
        os.close(self._requests)
        self._requests = -1
        while self.exit_status() is None and time.monotonic() < deadline:
            self._pause()
        status = self.exit_status()
        self.kill(grace=0.0)
        if status is None:
            return f"did not exit within {seconds:g} s"
        return "" if status == 0 else ending(status)

    def kill(self, grace: float = GRACE) -> str:
        """End the process and all that it has started, wherever that is now; return the last it wrote on stderr."""
        self._note_tree()
        if grace and self.exit_status() is None:
            self._terminate()
            deadline = time.monotonic() + grace
            while self.exit_status() is None and time.monotonic() < deadline:
                self._pause()
        self._release()
        self._popen.send_signal(signal.SIGCONT)
        try:
            self._popen.wait(2 * supervisor.PATIENCE)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        own_process.ended(self._popen.pid)
        if self._popen.returncode != 0:
            self._end_without_supervisor()
        self._drain_errors()
        if self._errors >= 0:
            os.close(self._errors)
            self._errors = -1
        supervisor.remove(str(self.folder))
        return self.stderr_tail()

    def stderr_tail(self) -> str:
        """Return the last lines written on standard output and standard error."""
        return bytes(self._stderr).decode(errors="replace").strip()

    def _terminate(self) -> None:
        with contextlib.suppress(OSError):
            os.write(self._orders, b"t")

    def _end_without_supervisor(self) -> None:
        """End what is known of a process whose supervisor was killed, and who came to this process since."""
        while members := {each for each in (*self._tree, *own_process.strays()) if each.is_running()}:
            self._tree.clear()
            for member in members:
                with contextlib.suppress(psutil.Error):
                    member.kill()
            psutil.wait_procs(members, 1.0)

    def _note_tree(self) -> None:
        """Remember the descendants, those of the worker too where its supervisor is no more."""
        self.exit_status()
        with contextlib.suppress(psutil.Error):
            self._tree.update(psutil.Process(self._popen.pid).children(recursive=True))
        if self._leader is not None and self._popen.poll() is not None:
            self._tree.add(self._leader)
            with contextlib.suppress(psutil.Error):
                self._tree.update(self._leader.children(recursive=True))

    def _measure(self, kind: str) -> list[int]:
        sizes = []
        with contextlib.suppress(psutil.Error):
            tree = psutil.Process(self._popen.pid).children(recursive=True)
            self._tree.update(tree)
            for member in tree:
                with contextlib.suppress(psutil.Error):
                    info = member.memory_info() if kind == "rss" else member.memory_full_info()
                    sizes.append(int(getattr(info, kind, info.rss)))
        return sizes

    def _pause(self) -> None:
        """Wait a moment, emptying the pipes so that nobody hangs on a full one while dying."""
        readable = [fd for fd in (self._errors, -1 if self.ended else self._replies) if fd >= 0]
        for descriptor in select.select(readable, [], [], 0.01)[0]:
            if descriptor == self._errors:
                self._drain_errors()
            else:
                self.ended = _read(descriptor) == b""

    def _drain_errors(self) -> None:
        for _ in range(64):
            chunk = _read(self._errors) if self._errors >= 0 else None
            if chunk is None:
                break
            if not chunk:
                os.close(self._errors)
                self._errors = -1
            self._stderr += chunk
            del self._stderr[:-STDERR_KEPT]

    def _release(self) -> None:
        """Close the pipes, of which the supervisor waits for the end of one, and keep the one of last words."""
        for descriptor in {self._requests, self._replies, self._control, self._orders, self._ending} - {-1}:
            os.close(descriptor)
        self._requests = self._replies = self._control = self._orders = self._ending = -1
        self.ended = True


def _read(descriptor: int) -> bytes | None:
    """Return the next bytes, nothing at the end, ``None`` when none are there now."""
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return None


def ending(status: int) -> str:
    """Return an exit status in words; negative ones are signals."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


def ending_word(status: int) -> str:
    """Return an exit status in a word: ``SIGSEGV``, or ``exit 3``."""
    return f"exit {status}" if status >= 0 else ending(status).rsplit(" ", 1)[-1]
