"""A backend that tries what a process of the runner's user may do to others, and describes itself by what it could."""

from __future__ import annotations

import ctypes
import os
import resource
import socket
from collections.abc import Callable
from pathlib import Path

from conformance.backends.reference import Reference

ATTEMPTS: dict[str, Callable[[], object]] = {}


def attempt(name: str) -> Callable[[Callable[[], object]], Callable[[], object]]:
    def noted(tries: Callable[[], object]) -> Callable[[], object]:
        ATTEMPTS[name] = tries
        return tries

    return noted


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def runner() -> int:
    """Return the process id of the runner; raise ``ProcessLookupError`` where it cannot be seen."""
    found = parent(os.getppid())
    if not found:
        raise ProcessLookupError
    return found


def another() -> int:
    """Return the process id of the other backend's worker; raise ``ProcessLookupError`` where it cannot be seen."""
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[-4:-1] == [b"-m", b"conformance.backends.worker", b"reference"] and parent(
            parent(int(each.parent.name))
        ) == parent(os.getppid()):
            return int(each.parent.name)
    raise ProcessLookupError


def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def must(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


@attempt("descriptors")
def descriptors() -> None:
    for each in Path(f"/proc/{runner()}/fd").iterdir():
        each.read_bytes()


@attempt("memory")
def memory() -> None:
    Path(f"/proc/{runner()}/mem").open("r+b").close()


@attempt("environment")
def environment() -> None:
    Path(f"/proc/{runner()}/environ").read_bytes()


@attempt("attach")
def attach() -> None:
    must(libc().ptrace(0x4206, runner(), None, None))  # PTRACE_SEIZE


@attempt("taken descriptor")
def taken() -> None:
    must(libc().syscall(438, os.pidfd_open(runner()), 1, 0))  # pidfd_getfd


@attempt("supervisor")
def supervisor() -> None:
    for opened in ("mem", "fd/3"):
        try:
            Path(f"/proc/{os.getppid()}/{opened}").open("r+b").close()
        except OSError:
            continue
        return
    raise PermissionError


@attempt("capabilities")
def capabilities() -> None:
    status = Path("/proc/self/status").read_text().splitlines()
    kinds = ("CapPrm", "CapEff", "CapAmb", *(["CapBnd"] if os.geteuid() == 0 else []))  # that of others means nothing
    if all(int(line.split()[1], 16) == 0 for line in status if line.startswith(kinds)):
        raise PermissionError


@attempt("set-user-ID")
def set_user_id() -> None:
    if "NoNewPrivs:\t1" in Path("/proc/self/status").read_text():
        raise PermissionError


@attempt("signal the runner")
def signal_the_runner() -> None:
    os.kill(runner(), 0)


@attempt("limits")
def limits() -> None:
    resource.prlimit(runner(), resource.RLIMIT_CORE, (0, 0))


@attempt("signal another")
def signal_another() -> None:
    os.kill(another(), 0)


@attempt("memory of another")
def memory_of_another() -> None:
    Path(f"/proc/{another()}/mem").open("r+b").close()


@attempt("folder of another")
def folder_of_another() -> None:
    folders = [each for each in Path(os.environ["REACH_TMP"]).glob("conformance-*") if str(each) != own_folder()]
    if not folders:
        raise FileNotFoundError
    (folders[0] / "mine").touch()
    (folders[0] / "mine").unlink()


def own_folder() -> str:
    """Return the folder of this worker, which it was told of when it started."""
    told = Path("/proc/self/environ").read_bytes().decode().split("\0")
    return next(word.partition("=")[2] for word in told if word.startswith("CONFORMANCE_FILES="))


@attempt("write a file")
def write_a_file() -> None:
    Path(os.environ["REACH_FILE"]).write_text("mine")


@attempt("read a file")
def read_a_file() -> None:
    Path(os.environ["REACH_FILE"]).read_text()


@attempt("service")
def service() -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.connect("\0" + os.environ["REACH_SERVICE"])


@attempt("network")
def network() -> None:
    socket.create_connection(("127.0.0.1", int(os.environ["REACH_PORT"])), 5).close()


@attempt("terminal")
def terminal() -> None:
    os.close(os.open(os.environ["REACH_TERMINAL"], os.O_WRONLY | os.O_NOCTTY))


@attempt("reference")
def reference() -> None:
    from conformance.reference.operations import OPERATIONS

    assert OPERATIONS


@attempt("processor")
def processor() -> None:
    os.sched_yield()


class Reaching(Reference):
    def describe(self) -> dict[str, str]:
        return {name: tried(tries) for name, tries in ATTEMPTS.items()}


def tried(tries: Callable[[], object]) -> str:
    try:
        tries()
    except OSError as error:
        return f"refused, {type(error).__name__}"
    return "possible"
