"""A worker that nobody asks: what it is handed is not run, and why is said of each case."""

from __future__ import annotations

import psutil

from conformance.backends.protocol import Ready
from conformance.runner.worker.answers import Answer, Broken, Request
from conformance.runner.worker.interface import Closing, Judgeable
from conformance.runner.worker.seconds import WorkerSeconds


class UnaskedWorker(Closing):
    """Stands for the worker of a backend whose introduction it has."""

    def __init__(self, worker: Judgeable, why: str) -> None:
        """Say of every case that it was not run, and ``why``."""
        self._worker, self._answer = worker, Answer(Broken("not_run", why))
        self._tickets = 0
        self._waiting: list[int] = []

    @property
    def ready(self) -> Ready:
        """Return how the backend introduced itself; raise ``StartError`` when it does not start."""
        return self._worker.ready

    @property
    def seconds(self) -> WorkerSeconds:
        """Return that nothing was spent."""
        return WorkerSeconds()

    @property
    def outstanding(self) -> int:
        """Return how many submitted cases ``poll`` has not returned yet."""
        return len(self._waiting)

    @property
    def answered(self) -> bool:
        """Return whether ``poll(0)`` has something to return."""
        return bool(self._waiting)

    def submit(self, case: Request) -> int:
        """Take a case, and return its ticket."""
        self._tickets += 1
        self._waiting.append(self._tickets)
        return self._tickets

    def poll(self, timeout: float) -> list[tuple[int, Answer]]:
        """Return that nothing that was submitted was run."""
        waiting, self._waiting = self._waiting, []
        return [(ticket, self._answer) for ticket in waiting]

    def ask(self, case: Request) -> Answer:
        """Return that a case was not run."""
        return self._answer

    def sibling(self) -> UnaskedWorker:
        """Return this one."""
        return self

    def apart(self) -> None:
        """Return that there is no process."""

    def processes(self) -> list[psutil.Process]:
        """Return that there is none."""
        return []

    def renew(self) -> None:
        """Leave everything as it is."""

    def withdraw(self, ticket: int) -> bool:
        """Give up a submitted case; return whether it was there."""
        there = ticket in self._waiting
        self._waiting = [one for one in self._waiting if one != ticket]
        return there

    def cancel(self) -> None:
        """Give up what was submitted."""
        self._waiting.clear()

    def close(self) -> None:
        """Leave the worker to whom it belongs."""

    def descriptors(self) -> list[tuple[int, int]]:
        """Return nothing to wait for."""
        return []

    def due(self) -> float:
        """Return 0 when cases were submitted."""
        return 0.0 if self._waiting else 3600.0

    def advance(self) -> None:
        """Do nothing."""
