"""Processes that judge slices, kept from one slice to the next: here, and in each worker of a cluster."""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

import msgspec

from conformance.cli.slice_forks import FORKS, Forked, Template
from conformance.cli.slice_job import Job, SliceEnd, SliceRequest
from conformance.runner.log.reading import LONGEST

LOST: Final = -1
"""The status of a slice whose process ended without a word on it."""

MOST_TOLD: Final = 2000
"""Bytes of what a process said that are looked at, from its end: its backends write there as much as they like."""


class JudgedSlice(NamedTuple):
    """What came of a slice: a status as of ``SliceEnd`` or ``LOST``, why, note and log, and where it was judged."""

    status: int
    why: str = ""
    content: bytes = b""
    host: str = ""


class SliceProcess:
    """One process that judges slices of a job, asked by one thread at a time."""

    def __init__(self, job: Job, template: Template | None = None) -> None:
        """Start it, from a ``template`` where there is one."""
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close
        stdin, tell = os.pipe()
        read, write = os.pipe()
        self._tells, self._read = os.fdopen(tell, "wb"), os.fdopen(read, "rb")
        try:
            self._process: subprocess.Popen[bytes] | Forked
            if template is not None:
                self._process = template.forked(stdin, self._output.fileno(), write)
            else:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "conformance.cli.slice_runner", str(write)],
                    stdin=stdin,
                    stdout=self._output,
                    stderr=self._output,
                    pass_fds=(write,),
                )
        finally:
            os.close(stdin)
            os.close(write)
        self._tell(job)

    def judge(self, ask: SliceRequest) -> JudgedSlice:
        """Return what came of one slice."""
        self._tell(ask)
        try:
            said = msgspec.json.decode(self._read.readline(1 << 16), type=SliceEnd)
            content = self._read.read(said.length) if 0 <= said.length <= LONGEST else b""
        except (msgspec.MsgspecError, OSError):
            return JudgedSlice(LOST, self._last(), host=socket.gethostname())
        if len(content) != said.length:
            return JudgedSlice(LOST, self._last(), host=socket.gethostname())
        return JudgedSlice(said.status, said.why, content, socket.gethostname())

    def ended(self) -> bool:
        """Return whether it takes no more slices."""
        return self._process.poll() is not None

    def terminate(self) -> None:
        """Tell it to end; who asks it is told that its slice is lost."""
        self._process.terminate()

    def close(self) -> None:
        """End it, and wait for its end."""
        with contextlib.suppress(OSError):
            self._tells.close()
        self._process.wait()
        self._read.close()
        self._output.close()

    def _tell(self, what: Job | SliceRequest) -> None:
        # Where it has ended, that is seen when its answer is read.
        with contextlib.suppress(OSError):
            self._tells.write(msgspec.json.encode(what) + b"\n")
            self._tells.flush()

    def _last(self) -> str:
        """Return how it ended, and the last line that it wrote."""
        status = self._process.wait()
        self._output.seek(max(0, self._output.seek(0, os.SEEK_END) - MOST_TOLD))
        lines = self._output.read(MOST_TOLD).decode(errors="replace").strip().splitlines()
        how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        return f"its process {how}: {lines[-1] if lines else 'it said nothing'}"


class _Pool:
    """The processes of this process, by job: those that wait, and all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[bytes, list[SliceProcess]] = {}
        self._all: dict[bytes, set[SliceProcess]] = {}
        self._templates: dict[bytes, Template] = {}

    @contextlib.contextmanager
    def one(self, job: Job) -> Iterator[SliceProcess]:
        """Yield a process that waits, or a new one."""
        key = job.key()
        with self._lock:
            process = self._waiting(key)
            template = self._template(key) if process is None else None
        if process is None:
            process = SliceProcess(job, template)
        with self._lock:
            self._all.setdefault(key, set()).add(process)
        kept = False
        try:
            yield process
            kept = not process.ended()
        finally:
            with self._lock:
                if kept and process in self._all.get(key, ()):
                    self._idle.setdefault(key, []).append(process)
                else:
                    kept = False
                    self._all.get(key, set()).discard(process)
            if not kept:
                process.terminate()
                process.close()

    def _waiting(self, key: bytes) -> SliceProcess | None:
        """Return a process that waits; those that waited too long and ended are closed."""
        idle = self._idle.get(key, [])
        while idle:
            process = idle.pop()
            if not process.ended():
                return process
            self._all[key].discard(process)
            process.close()
        return None

    def _template(self, key: bytes) -> Template | None:
        """Return what processes of a job are forked from: it has the folder and the environment of its first one."""
        if not FORKS:
            return None
        found = self._templates.get(key)
        if found is not None and found.ended():
            found.close()
            found = None
        if found is None:
            found = self._templates[key] = Template()
        return found

    def close(self) -> None:
        """End all: of a job whose run was killed nobody says the end."""
        for key in [*self._all]:
            self.end(key)

    def end(self, key: bytes) -> None:
        """End those of a job; what they judge is lost."""
        with self._lock:
            every, idle = self._all.pop(key, set()), self._idle.pop(key, [])
            template = self._templates.pop(key, None)
        for process in every:
            process.terminate()
        for process in idle:
            process.close()
        if template is not None:
            template.close()


_POOL: Final = _Pool()
atexit.register(_POOL.close)


def judge(job: bytes, at: int, of: int, folder: str | None = None) -> JudgedSlice:
    """Return what came of slice ``at`` of ``of`` of an encoded job, judged by a process of its own.

    Its log lies in ``folder``, or nowhere when it has ended.
    """
    told = msgspec.json.decode(job, type=Job)
    with _POOL.one(told) as process:
        if folder is not None:
            return process.judge(SliceRequest(at, of, folder))
        with tempfile.TemporaryDirectory(prefix="conformance-slice-") as made:
            return process.judge(SliceRequest(at, of, str(Path(made) / "slice")))


def dismiss(job: bytes) -> None:
    """End the processes of an encoded job here."""
    _POOL.end(msgspec.json.decode(job, type=Job).key())
