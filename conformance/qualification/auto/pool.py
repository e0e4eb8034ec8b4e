"""Work in forked processes: what hangs or dies there is an outcome, and what is changed there stays there."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any, Final, TypeVar

T = TypeVar("T")
R = TypeVar("R")

CPU: Final = 30
"""Seconds of processor time that one case may take; the longest of the unchanged reference take some seconds."""

QUIET: Final = 240.0
"""Seconds without a new case after which a process is taken for hung. With 60, a long case
of the unchanged reference was, on two cores that eleven other processes shared."""

MEMORY: Final = 6 << 30
"""Bytes of address space that a mutant of plain Python may take."""


class At:
    """Where a process is in its cases, told to its parent."""

    def __init__(self, cpu: float = CPU) -> None:
        """Begin before the first case; each may take ``cpu`` seconds of the processor."""
        self._cpu = cpu
        self._shared = multiprocessing.RawValue("q", -1)

    def come_to(self, number: int) -> None:
        """Say that a case begins, and give it its processor time."""
        self._shared.value = number
        signal.setitimer(signal.ITIMER_PROF, self._cpu)

    @property
    def number(self) -> int:
        """Return the case that is under way, -1 before the first."""
        return int(self._shared.value)


@dataclass(frozen=True)
class Ended:
    """A process that returned nothing: ``how`` it ended, in which case (-1: before the first)."""

    how: str
    at: int


@dataclass
class _Child:
    number: int
    process: Any
    receiver: Connection
    at: At
    seen: int = -2
    since: float = field(default_factory=time.monotonic)


def in_children(
    tasks: Sequence[T], run: Callable[[T, At], R], *, jobs: int = 0, memory: int | None = MEMORY, cpu: float = CPU
) -> Iterator[tuple[T, R | Ended]]:
    """Yield each task with what ``run`` returned for it in a process of its own, as they end."""
    fork = multiprocessing.get_context("fork")
    jobs, waiting = jobs or cores(), list(enumerate(tasks))[::-1]
    under_way: dict[Connection, _Child] = {}
    try:
        while waiting or under_way:
            while waiting and len(under_way) < jobs:
                number, task = waiting.pop()
                receiver, sender = fork.Pipe(duplex=False)
                at = At(cpu)
                process = fork.Process(target=_run, args=(run, task, at, sender, memory), daemon=True)
                process.start()
                sender.close()
                under_way[receiver] = _Child(number, process, receiver, at)
            ready = set(wait(list(under_way), timeout=1.0))
            for receiver, child in list(under_way.items()):
                result = _result(child, ended=receiver in ready)
                if result is not None:
                    del under_way[receiver]
                    yield tasks[child.number], result[0]
    finally:
        for child in under_way.values():
            child.process.kill()
            child.process.join()


def cores() -> int:
    """Return how many processes may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _result(child: _Child, *, ended: bool) -> tuple[Any] | None:
    """Return what became of a process, ``None`` while it is under way."""
    if ended:
        try:
            made = child.receiver.recv()
        except (EOFError, OSError):
            child.process.join()
            code = child.process.exitcode
            how = "hung" if code == -signal.SIGPROF else f"ended by signal {-code}" if code < 0 else f"exit {code}"
            made = Ended(how, child.at.number)
        child.receiver.close()
        child.process.join()
        return (made,)
    if child.at.number != child.seen:
        child.seen, child.since = child.at.number, time.monotonic()
    if time.monotonic() - child.since > QUIET:
        child.process.kill()
        child.process.join()
        child.receiver.close()
        return (Ended("hung", child.at.number),)
    return None


def _run(run: Callable[[T, At], R], task: T, at: At, sender: Connection, memory: int | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    null = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(null, descriptor)
    at.come_to(-1)
    sender.send(run(task, at))
    sender.close()
    # Native libraries may hang or fail as they are taken down, and nothing is left to be written.
    os._exit(0)
