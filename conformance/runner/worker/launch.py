"""From a command to a worker under its supervisor, in a sandbox or not, and the pipes to and from it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.backends import protocol
from conformance.runner.worker import supervisor
from conformance.runner.worker.sandbox import cache_of, wrapped

WIDE: Final = 1 << 20
"""Bytes that a pipe holds, where the system lets it: while the runner draws, a backend has enough to do, and room
for its answers. Usual are 64 KiB, a dozen cases."""

_FIRST: Final = 100
"""The least number of a descriptor that a worker is given. Lower ones would depend on what the runner has open, which
differs between its commands: a worker would see by them which one it runs under."""

_ALONE: Final = (sys.executable, "-I", "-S", "-B", supervisor.__file__)
"""How Python starts a supervisor: without a path or a package that somebody else chooses, and soon."""


@dataclass(frozen=True)
class Launched:
    """A supervisor, and the runner's ends of the pipes.

    Three are of the worker: what it reads, what it answers, and its standard output and error. Two are of the
    supervisor: at the end of ``control`` it ends everything, and it tells on ``ending`` how the worker ended.
    ``orders`` is where SIGTERM is asked for: of the supervisor in the sandbox, where there is one.
    """

    popen: subprocess.Popen[bytes]
    requests: int
    replies: int
    errors: int
    control: int
    orders: int
    ending: int


def launched(command: Sequence[str], folder: Path, *, sandboxed: bool) -> Launched:
    """Start ``command``, whose cases and answers travel in ``folder``.

    Raise ``OSError`` where its supervisor cannot be started; whether the command can its ``ending`` says.
    """
    (request_read, requests), (replies, reply_write), (errors, error_write) = os.pipe(), os.pipe(), os.pipe()
    (control_read, control), (ending, ending_write) = os.pipe(), os.pipe()
    request_read, reply_write, control_read, ending_write = map(
        _renumbered, (request_read, reply_write, control_read, ending_write)
    )
    theirs, orders, pipes = [request_read, reply_write], control, [control_read, ending_write]
    kind, told = "worker", {protocol.READ: request_read, protocol.WRITE: reply_write, protocol.FILES: folder}
    try:
        if sandboxed:
            inner_read, orders = os.pipe()
            pipes += [_renumbered(inner_read), _renumbered(os.dup(ending_write))]
            inner = [*_ALONE, *_words(pipes[-2], pipes[-1], theirs, 0, ""), "worker", *command]
            theirs += pipes[2:]
            cache = cache_of(command)
            cache.mkdir(parents=True, exist_ok=True)
            kind, command = "sandbox", wrapped(inner, folder, cache)
        for end in (request_read, replies):
            _widen(end)
        popen = subprocess.Popen(
            [*_ALONE, *_words(control_read, ending_write, theirs, os.getpid(), str(folder)), kind, *command],
            stdin=subprocess.DEVNULL,
            stdout=error_write,
            stderr=error_write,
            pass_fds=(*theirs, control_read, ending_write),
            start_new_session=True,
            env={**os.environ, **{name: str(value) for name, value in told.items()}},
        )
    except OSError:
        for descriptor in {requests, replies, errors, control, orders, ending}:
            os.close(descriptor)
        raise
    finally:
        for descriptor in {*theirs, *pipes, error_write}:
            os.close(descriptor)
    for descriptor in (requests, replies, errors, ending):
        os.set_blocking(descriptor, False)
    return Launched(popen, requests, replies, errors, control, orders, ending)


def _renumbered(descriptor: int) -> int:
    """Return a descriptor of the same pipe with a number that does not tell what else is open, in place of this one."""
    found = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST)
    os.close(descriptor)
    return found


def _words(control: int, ending: int, theirs: Sequence[int], runner: int, folder: str) -> list[str]:
    return [str(control), str(ending), ",".join(map(str, theirs)), str(runner), folder]


def _widen(pipe: int) -> None:
    """Let a pipe hold more than usual, where that can be told (Linux) and is allowed."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, WIDE)
