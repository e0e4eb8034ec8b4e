"""One live backend process: private pipes that never block, bounded stderr, and a death that takes all with it."""

from __future__ import annotations

import contextlib
import fcntl
import os
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

from conformance.backends import protocol

GRACE: Final = 0.5
"""Seconds between SIGTERM and SIGKILL: an exit handler gets its turn, a stuck process costs little."""

CHUNK: Final = 1 << 16
WIDE: Final = 1 << 20
"""Bytes that a pipe holds, where the system lets it: while the runner draws, a backend has enough to do, and room
for its answers. Usual are 64 KiB, a dozen cases."""

LONGEST_REPLY: Final = 64 << 20
"""Bytes without a newline that end a backend: large tensors travel by file, so no honest line comes near."""

MOST_LINES: Final = 1024
"""Lines taken at once, far above any window: a flood must not keep the runner from its other workers."""

STDERR_KEPT: Final = 16 << 10


class Process:
    """A running command in its own session, with line pipes to and from it."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start ``command``; raise ``OSError`` when that fails."""
        self.folder = Path(tempfile.mkdtemp(prefix="conformance-"))
        """Where large cases and observations travel; it goes with the process."""
        request_read, self._requests = os.pipe()
        self._replies, reply_write = os.pipe()
        self._errors, error_write = os.pipe()
        for end in (request_read, self._replies):
            _widen(end)
        theirs = (request_read, reply_write, error_write)
        told = {protocol.READ: request_read, protocol.WRITE: reply_write, protocol.FILES: self.folder}
        try:
            self._popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=error_write,
                stderr=error_write,
                pass_fds=(request_read, reply_write),
                start_new_session=True,
                env={**os.environ, **{name: str(value) for name, value in told.items()}},
            )
        except OSError:
            self._release()
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self._watchdog = _watchdog(self._popen.pid, self.folder)
        for descriptor in (self._requests, self._replies, self._errors):
            os.set_blocking(descriptor, False)
        self._unsent: deque[memoryview] = deque()
        self._partial = bytearray()
        self._stderr = bytearray()
        self._tree: set[psutil.Process] = set()
        self.ended = False
        """Whether the reply pipe is at its end."""

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
        lines: list[bytes] = []
        while not self.ended:
            if len(self._partial) > LONGEST_REPLY:
                if lines:
                    break  # they came whole, and answer cases that are not to blame
                raise OverflowError(f"a reply line is longer than {LONGEST_REPLY >> 20} MiB")
            if (chunk := _read(self._replies)) is None:
                break
            self.ended = not chunk
            head, *rest = chunk.split(b"\n")
            self._partial += head
            if rest:
                lines += [bytes(self._partial), *rest[:-1]]
                self._partial = bytearray(rest[-1])
            if len(lines) > MOST_LINES:
                break
        return lines

    def exit_status(self) -> int | None:
        """Return the status of the exited leader as ``subprocess`` counts it, or ``None``; it stays a zombie.

        The process group can then still be killed by its id, which no other process can have taken.
        """
        if self._popen.returncode is not None or not hasattr(os, "waitid"):
            return self._popen.poll()
        try:
            state = os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        except ChildProcessError:  # The host program ignores SIGCHLD or reaped it.
            return self._popen.poll()
        if state is None:
            return None
        return state.si_status if state.si_code == os.CLD_EXITED else -state.si_status

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
        """End the process group, all known descendants and all who have its folder in their environment.

        Return the last it wrote on stderr.
        """
        self._note_tree()
        if grace and self.exit_status() is None:
            self._signal(signal.SIGTERM)
            deadline = time.monotonic() + grace
            while self.exit_status() is None and time.monotonic() < deadline:
                self._pause()
        self._signal(signal.SIGKILL)
        self._watchdog.kill()
        self._watchdog.wait()
        for member in (*self._tree, *_inheriting(self.folder)):
            with contextlib.suppress(psutil.Error):
                member.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(5)  # Only a process stuck inside the kernel outlives this.
        self._drain_errors()
        self._release()
        return self.stderr_tail()

    def stderr_tail(self) -> str:
        """Return the last lines written on standard output and standard error."""
        return bytes(self._stderr).decode(errors="replace").strip()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, number)

    def _note_tree(self) -> None:
        """Remember the descendants while the leader is there to tell them."""
        with contextlib.suppress(psutil.Error):
            self._tree.update(psutil.Process(self._popen.pid).children(recursive=True))

    def _measure(self, kind: str) -> list[int]:
        sizes = []
        with contextlib.suppress(psutil.Error):
            leader = psutil.Process(self._popen.pid)
            tree = [leader, *leader.children(recursive=True)]
            self._tree.update(tree[1:])
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
        for descriptor in (self._requests, self._replies, self._errors):
            if descriptor >= 0:
                os.close(descriptor)
        self._requests = self._replies = self._errors = -1
        self.ended = True
        _remove(self.folder)


def _inheriting(folder: Path) -> list[psutil.Process]:
    """Return the processes that have the folder of a worker in their environment.

    A process whose parent has ended, in a session of its own, is in no group and no tree that the runner knows.
    """
    found = []
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if each.environ().get(protocol.FILES) == str(folder):
                found.append(each)
    return found


_REMOVE: Final = 'rm -rf -- "$2" || { chmod -R u+rwx -- "$2"; rm -rf -- "$2"; }'
"""Copes with trees too deep for ``shutil.rmtree``, and with folders that are closed to their owner."""

_WATCH: Final = f"""read _; kill -9 -- "-$1"
for each in $(grep -lsF -- "$2" /proc/[0-9]*/environ); do each="${{each#/proc/}}"; kill -9 "${{each%/environ}}"; done
{_REMOVE}
"""
"""Waits for a line, or for the end of who would write it; what has the folder in its environment ends with it."""


def _watchdog(leader: int, folder: Path) -> subprocess.Popen[bytes]:
    """Start what ends the process group of ``leader``, and its ``folder``, when this process ends however it does.

    A worker that hangs in a case sees no end of its requests, and a runner that is killed can end nobody.
    """
    return subprocess.Popen(
        ["/bin/sh", "-c", _WATCH, "watchdog", str(leader), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _remove(folder: Path) -> None:
    """Remove a folder, whatever a backend left in it."""
    subprocess.run(["/bin/sh", "-c", _REMOVE, "remove", "", str(folder)], stderr=subprocess.DEVNULL, check=False)


def _widen(pipe: int) -> None:
    """Let a pipe hold more than usual, where that can be told (Linux) and is allowed."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, WIDE)


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
