"""Work in forked processes: what hangs or dies there is an outcome, and what is changed there stays there."""

from __future__ import annotations

import gc
import multiprocessing
import os
import resource
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

CPU: Final = 30
"""Seconds of processor time that one case may take; the longest of the unchanged reference take some seconds."""

QUIET: Final = 240.0
"""Seconds without a new case after which a process is taken for hung. With 60, a long case
of the unchanged reference was, on two cores that eleven other processes shared."""

IDLE: Final = 30.0
BUSY: Final = 0.5
"""Seconds after which a process waits for ever if it used less than so many of the processor since its last case."""

LOOK: Final = 1.0
"""Seconds after which processes are looked at again."""


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

    @property
    def by_signal(self) -> bool:
        """Return whether the system ended it, as when a library writes where it may not."""
        return self.how.startswith("ended by signal")


@dataclass
class _Child(Generic[T]):
    tasks: list[T]
    process: Any
    receiver: Connection
    at: At
    done: int = 0
    seen: int = -2
    quiet: float = 0.0
    looked: float = field(default_factory=time.monotonic)
    spent: float | None = None


def in_children(
    tasks: Iterable[T],
    run: Callable[[T, At], R],
    *,
    jobs: int = 0,
    memory: int | None = None,
    cpu: float = CPU,
    batch: int = 1,
) -> Iterator[tuple[T, R | Ended]]:
    """Yield each task with what ``run`` returned for it in a process of its own, as they end.

    A deque of tasks may grow meanwhile: what is added is run too. With a ``batch`` a process does up to so many tasks
    one after the other, fewer where other processes would have none. What ends or hangs in a process that did others
    before is run again in a new one, so that nothing is blamed for what they left behind.
    """
    fork = multiprocessing.get_context("fork")
    jobs, waiting = jobs or cores(), tasks if isinstance(tasks, deque) else deque(tasks)
    under_way: dict[Connection, _Child[T]] = {}
    # What is there by now stays: collecting it would copy every page of it in every process.
    gc.collect()
    gc.freeze()
    try:
        while waiting or under_way:
            while waiting and len(under_way) < jobs:
                mine = [waiting.popleft() for _ in range(min(batch, -(-len(waiting) // jobs)))]
                receiver, sender = fork.Pipe(duplex=False)
                at = At(cpu)
                process = fork.Process(target=_run, args=(run, mine, at, sender, memory), daemon=True)
                process.start()
                sender.close()
                under_way[receiver] = _Child(mine, process, receiver, at)
            ready = set(wait(list(under_way), timeout=LOOK))
            for receiver, child in list(under_way.items()):
                result = _result(child, ended=receiver in ready)
                if result is None:
                    continue
                (made,) = result
                again = isinstance(made, Ended) and child.done > 0
                if isinstance(made, Ended) or child.done + 1 == len(child.tasks):
                    _close(child)
                    del under_way[receiver]
                    waiting.extendleft(reversed(child.tasks[child.done + (not again) :]))
                if not again:
                    child.done += 1
                    yield child.tasks[child.done - 1], made
    finally:
        gc.unfreeze()
        for child in under_way.values():
            child.process.kill()
            _close(child)


def cores() -> int:
    """Return how many processes may run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _result(child: _Child[T], *, ended: bool) -> tuple[Any] | None:
    """Return what became of a process's task, ``None`` while it is under way."""
    if ended:
        try:
            return (child.receiver.recv(),)
        except (EOFError, OSError):
            child.process.join()
            code = child.process.exitcode
            how = "hung" if code == -signal.SIGPROF else f"ended by signal {-code}" if code < 0 else f"exit {code}"
            return (Ended(how, child.at.number),)
    # Whoever stops this process stops the others too: time in which it did not look says nothing of them.
    now = time.monotonic()
    child.quiet, child.looked = child.quiet + min(now - child.looked, 2 * LOOK), now
    if child.at.number != child.seen:
        child.seen, child.quiet, child.spent = child.at.number, 0.0, _spent(child.process.pid)
    quiet = child.quiet
    if quiet > QUIET or (quiet > IDLE and (_spent(child.process.pid) or IDLE) - (child.spent or 0.0) < BUSY):
        child.process.kill()
        return (Ended("hung", child.at.number),)
    return None


def _close(child: _Child[T]) -> None:
    child.process.join()
    child.receiver.close()


def _spent(process: int) -> float | None:
    """Return the seconds of the processor that a process has used, ``None`` where the system does not say."""
    try:
        words = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _run(run: Callable[[T, At], R], tasks: Sequence[T], at: At, sender: Connection, memory: int | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    null = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(null, descriptor)
    for task in tasks:
        at.come_to(-1)
        sender.send(run(task, at))
    sender.close()
    # Native libraries may hang or fail as they are taken down, and nothing is left to be written.
    os._exit(0)
