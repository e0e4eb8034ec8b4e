"""The process between the runner and one worker, run as a file by itself: ``python -I -S -B supervisor.py ...``.

It starts the worker without privileges, says how it ended, exactly, and leaves nothing behind: what the worker started
is killed and reaped as soon as the worker has ended, whatever session, group or parent it has, and so is everything,
with the worker's folder, when the runner says so or has ended itself. It imports nothing of ours, for it is started
before each worker: 14 ms, of which Python's own start is 9 (measured on two cores).

The arguments are the descriptor that it is told on and the one it tells on, those that are the worker's (with
commas), the process id of the runner or 0, the folder to make and to remove or nothing, ``worker`` or ``sandbox``,
and the command. Told is ``t`` for SIGTERM to the worker, and the end of the file for the end; it tells ``worker
PID``, and then ``exit N``, ``signal N`` or ``unstarted ERRNO``. What makes a sandbox keeps its privileges, and has
another supervisor inside, which takes them from the worker.
"""

# ruff: noqa: PTH102, PTH106, PTH112, PTH123, PTH208, SIM105 - pathlib and contextlib take longer to import than the rest together

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL = 36, 38, 47, 4
_CAPABILITIES_3 = 0x20080522
_MOST_CAPABILITIES = 64

PATIENCE = 5.0
"""Seconds in which what was killed is waited for: only a process stuck inside the kernel outlives them."""

_RESET = [getattr(signal, name) for name in ("SIGPIPE", "SIGXFSZ", "SIGXFZ") if hasattr(signal, name)]
"""Signals that Python ignores, and that no program should find ignored."""

_REMOVE = 'rm -rf -- "$1" || { chmod -R u+rwx -- "$1"; rm -rf -- "$1"; }'
"""Copes with trees too deep for Python, and with folders that are closed to their owner."""


def main() -> int:
    """Start the worker, wait for its end or the runner's, and tidy up."""
    told, tells, theirs, runner, folder, kind, *command = sys.argv[1:]
    control, status = int(told), int(tells)
    for descriptor in (control, status):
        os.set_inheritable(descriptor, False)
    if sys.platform.startswith("linux"):
        # Nobody reads or writes its memory, and whoever of the worker's descendants loses its parent is its child.
        _prctl(_PR_SET_DUMPABLE, 0)
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        if kind == "worker":
            _give_up_privileges()
    if folder:
        os.mkdir(folder, 0o700)
    wake = _wakes()
    worker = os.fork()
    if worker == 0:
        _become(command, status)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    if folder:  # Inside a sandbox it has another process id.
        _tell(status, f"worker {worker}")
    _let_go([int(each) for each in theirs.split(",")])
    waits = select.poll()
    for descriptor in (control, wake, _of_runner(int(runner))):
        if descriptor >= 0:
            waits.register(descriptor, select.POLLIN)
    ended = _watch(waits, control, wake, worker)
    left = _end_all(worker)
    _tell(status, _words(left if ended is None else ended))
    if folder:
        if ended is not None:
            _watch(waits, control, wake, 0)
        remove(folder)
    return 0


def _give_up_privileges() -> None:
    """Give up every privilege, for good, those of the user root too, and that of set-user-ID programs."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
    for capability in range(_MOST_CAPABILITIES):
        _prctl(_PR_CAPBSET_DROP, capability)
    # With no permitted ones, and no new ones, root has none after exec either.
    ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)())


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0)))


def _wakes() -> int:
    """Return the descriptor that can be read when a child has ended."""
    wake, woken = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return wake


def _become(command: list[str], status: int) -> None:
    """Be the worker: a session of its own, and an end with its supervisor."""
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, *_RESET):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        if sys.platform.startswith("linux"):
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.execvp(command[0], command)  # noqa: S606 - the worker's own command
    except OSError as error:
        _tell(status, f"unstarted {error.errno or 0}")
    finally:
        os._exit(127)


def _let_go(theirs: list[int]) -> None:
    """Close what is the worker's, so that its end is seen when it ends."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    for descriptor in (nothing, *theirs):
        os.close(descriptor)


def _of_runner(runner: int) -> int:
    """Return a descriptor that can be read once the runner has ended, or -1 where there is no such thing."""
    if runner and hasattr(os, "pidfd_open"):
        try:
            return os.pidfd_open(runner)
        except OSError:
            pass
    return -1  # the end of what it tells on is its end


def _watch(waits: select.poll, control: int, wake: int, worker: int) -> int | None:
    """Return how the worker ended, or ``None`` once it is to be ended."""
    while True:
        for descriptor, _ in waits.poll():
            if descriptor == wake:
                os.read(wake, 4096)
                continue
            told = os.read(control, 64) if descriptor == control else b""
            if not told:
                return None
            if worker:
                _kill(worker, signal.SIGTERM)
        ended = _reap(worker)
        if ended is not None:
            return ended


def _reap(worker: int) -> int | None:
    """Reap who has ended; return how the worker ended, if it did."""
    ended = None
    try:
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            if found[0] == worker:
                ended = found[1]
    except ChildProcessError:
        pass
    return ended


def _kill(leader: int, number: int) -> None:
    """Signal a child and the group that it may lead."""
    for kill in (os.killpg, os.kill):
        try:
            kill(leader, number)
        except OSError:
            continue
        if number != signal.SIGKILL:
            return


def _end_all(worker: int) -> int:
    """Kill and reap every descendant; return how the worker ended, where it had not."""
    _kill(worker, signal.SIGKILL)
    deadline, before, ended = time.monotonic() + PATIENCE, b"", 0
    while time.monotonic() < deadline:
        found = _children()
        for child in found.split():
            _kill(int(child), signal.SIGKILL)
        try:
            while (seen := os.waitpid(-1, os.WNOHANG))[0]:
                ended = seen[1] if seen[0] == worker else ended
        except ChildProcessError:
            return ended
        # Whoever forks for ever is not given the time to.
        if found == before:
            time.sleep(0.001)
        before = found
    return ended


def _children() -> bytes:
    """Return the process ids of this process's children, with spaces; those of ended parents have become its own."""
    me = os.getpid()
    try:
        with open(f"/proc/self/task/{me}/children", "rb", 0) as file:
            return file.read(1 << 20)
    except OSError:
        return b" ".join(_listed(b"%d" % me))


def _listed(parent: bytes) -> list[bytes]:
    """Return the children where the kernel keeps no list of them."""
    found = []
    for each in os.listdir("/proc") if os.path.isdir("/proc") else ():
        try:
            with open(f"/proc/{int(each)}/stat", "rb", 0) as file:
                if file.read(4096).rpartition(b")")[2].split()[1] == parent:
                    found.append(each.encode())
        except (OSError, ValueError, IndexError):
            continue
    return found


def _words(ended: int) -> str:
    return f"signal {os.WTERMSIG(ended)}" if os.WIFSIGNALED(ended) else f"exit {os.WEXITSTATUS(ended)}"


def _tell(status: int, line: str) -> None:
    try:
        os.write(status, f"{line}\n".encode())
    except OSError:
        pass  # the runner has ended


def remove(folder: str) -> None:
    """Remove a folder, whatever a backend left in it."""
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return
    except OSError:
        if os.path.lexists(folder):
            os.spawnv(os.P_WAIT, "/bin/sh", ["sh", "-c", _REMOVE, "remove", folder])  # noqa: S606 - no name is a word


if __name__ == "__main__":
    sys.exit(main())
