"""What must hold whatever is read: an orderly end, one line, bounds on memory and time, and nothing is started."""

from __future__ import annotations

import contextlib
import io
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

MEMORY: Final = 3 << 30
"""Bytes of address space beyond what the process has: a case at its limit takes 2.4 GiB."""

SECONDS: Final = 20.0
"""Of the processor that an input may take: on a busy machine one of 3 s took 20 of the clock."""

STARTING: Final = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec"})
"""Events of Python that start a program."""


STRANGE: Final = ("Traceback (most recent call last)", "Warning:", "Exception ignored", "Fatal Python error")
"""What Python says of its own accord. Of progress a run tells on the same stream."""


class Finding(AssertionError):
    """An input for which something did not hold; the message says what."""


class Ended(NamedTuple):
    """How a command ended: its status and what it wrote."""

    status: int
    out: str
    err: str


_started: list[str] = []
_watching: list[bool] = []


def _notice(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event in STARTING:
        _started.append(f"{event} {arguments!r:.200}")


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Bound memory and time of what is done inside, and let it start nothing; raise ``Finding``."""
    if not _watching and not getattr(sys, "_fuzz_hook", False):
        sys.addaudithook(_notice)
        sys._fuzz_hook = True  # type: ignore[attr-defined]  # a hook is never removed, and one is enough
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_held() + MEMORY, limits[1]))
    _started.clear()
    _watching.append(True)
    begun = time.process_time()
    try:
        yield
    finally:
        _watching.pop()
        resource.setrlimit(resource.RLIMIT_AS, limits)
    if _started:
        raise Finding(f"it started {_started[0]}")
    if (took := time.process_time() - begun) > SECONDS:
        raise Finding(f"it took {took:.1f} s of the processor")


def _held() -> int:
    """Return the bytes of address space that this process has."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 4 << 30


def command(words: list[str]) -> Ended:
    """Run a command in this process; raise ``Finding`` where it does not end in order."""
    from conformance.cli import main

    out, err = io.StringIO(), io.StringIO()
    streams = sys.stdout
    try:
        with guarded(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main(words)
    except Finding:
        raise
    except BaseException as error:
        raise Finding(_told(error)) from error
    finally:
        sys.stdout = streams
    ended = Ended(status, out.getvalue(), err.getvalue())
    check(ended)
    return ended


def call(act: Callable[[], object], allowed: tuple[type[Exception], ...]) -> None:
    """Call a function of ours that may refuse with one of some errors, in one line; raise ``Finding`` for another."""
    try:
        with guarded():
            act()
    except Finding:
        raise
    except allowed as error:
        if len(str(error).splitlines()) > 1:
            raise Finding(f"its error has several lines: {error}") from error
    except BaseException as error:
        raise Finding(_told(error)) from error


def check(ended: Ended) -> None:
    """Raise ``Finding`` unless a command ended with one of our statuses, and a refusal is one line."""
    if ended.status not in (0, 1, 2, 3):
        raise Finding(f"status {ended.status}: {ended.err[-500:]!r}")
    lines = ended.err.splitlines()
    if strange := [line for line in lines if any(word in line for word in STRANGE)]:
        raise Finding(f"on standard error: {strange[0]!r:.80}: {ended.err[-800:]}")
    complaints = [line for line in lines if line.startswith("conformance: ")]
    if ended.status == 2 and len(complaints) != 1:
        raise Finding(f"{len(complaints)} lines for status 2: {ended.err[-500:]!r}")
    if not lines and not ended.out:
        raise Finding(f"status {ended.status} and not a word")


def _told(error: BaseException) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {last.filename}:{last.lineno}: {error!s:.300}"
