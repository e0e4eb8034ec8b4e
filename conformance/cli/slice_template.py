"""A process that has imported what slices need, and becomes two for each that is to judge them: forked, not started.

``python -m conformance.cli.slice_template SOCKET``. To start one anew takes two to three seconds of a processor, and
its own memory for what all of them have alike. A request is a byte with four descriptors: standard input, where
what is written goes, the pipe of ``slice_runner``, and a socket. There ``t`` asks for SIGTERM, and how the process
ended is told, as a number. It ends when its socket is closed and all that it forked have ended, and by itself when it
has been of no use for a while.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import warnings
from typing import Final, NamedTuple

from conformance.cli import slice_runner
from conformance.cli.slice_job import FORK, TERMINATE
from conformance.runner.log.environment import digests
from conformance.runner.worker.own_process import closed

LOOK: Final = 0.1
"""Seconds between looks at what has ended."""


class _Asked(NamedTuple):
    stdin: int
    output: int
    pipe: int
    control: int


def main(arguments: list[str]) -> int:
    """Fork what is asked for; return the exit status, in what is forked too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends when who asks has ended
    with socket.socket(fileno=int(arguments[0])) as asker, contextlib.ExitStack() as stack:
        os.set_inheritable(asker.fileno(), False)
        stack.enter_context(closed())
        digests()
        gc.collect()
        gc.freeze()
        asked = _serve(asker)
        if asked is None:
            return 0
        stack.pop_all()  # what is forked is closed to others from its first moment
    os.close(asked.control)
    os.dup2(asked.stdin, 0)
    os.dup2(asked.output, 1)
    os.dup2(asked.output, 2)
    os.close(asked.stdin)
    os.close(asked.output)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return slice_runner.main([str(asked.pipe)])


def _serve(asker: socket.socket) -> _Asked | None:
    """Fork for each request; return what was asked for in each that is forked, and ``None`` at the end."""
    running: dict[int, socket.socket] = {}
    """The socket of each that has not ended, by process id."""
    open_ = True
    while open_ or running:
        waited = [*([asker] if open_ else []), *(each for each in running.values() if each.fileno() >= 0)]
        ready, _, _ = select.select(waited, [], [], LOOK if running else slice_runner.IDLE)
        if not ready and not running:
            return None
        for pid, control in running.items():
            if control in ready:
                _heed(pid, control)
        _reap(running)
        if asker in ready:
            asked = _received(asker)
            open_ = asked is not None
            if asked is not None:
                pid = _fork()
                if pid == 0:
                    for control in running.values():
                        control.close()
                    return asked
                for descriptor in asked[:3]:
                    os.close(descriptor)
                running[pid] = socket.socket(fileno=asked.control)
    return None


def _received(asker: socket.socket) -> _Asked | None:
    """Return the next request, ``None`` where there are no more."""
    said, descriptors, _, _ = socket.recv_fds(asker, 1, len(_Asked._fields))
    if said != FORK or len(descriptors) != len(_Asked._fields):
        for descriptor in descriptors:
            os.close(descriptor)
        return None
    return _Asked(*descriptors)


def _fork() -> int:
    with warnings.catch_warnings():
        # The only threads here are of NumPy's BLAS, which ends them before a fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _heed(pid: int, control: socket.socket) -> None:
    """Do what is asked of one that has not been waited for; who asks no more lets it end by itself."""
    try:
        said = control.recv(1)
    except OSError:
        said = b""
    if said == TERMINATE:
        os.kill(pid, signal.SIGTERM)
    elif not said:
        control.close()


def _reap(running: dict[int, socket.socket]) -> None:
    """Tell how those ended that have, and forget them; whoever else is a child here was left by one of them."""
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            control = running.pop(pid, None)
            if control is not None and control.fileno() >= 0:
                with contextlib.suppress(OSError):
                    control.sendall(str(os.waitstatus_to_exitcode(status)).encode())
                control.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
