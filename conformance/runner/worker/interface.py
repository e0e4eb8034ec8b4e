"""What a run needs of a worker, in its own process or in this one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, Self

import psutil

from conformance.backends.protocol import Ready
from conformance.runner.worker.answers import Answer, Request
from conformance.runner.worker.seconds import WorkerSeconds
from conformance.runner.worker.waiting_thread import Waitable


class Judgeable(Waitable, Protocol):
    """A worker, in its own process or in this one."""

    @property
    def ready(self) -> Ready:
        """Return how the backend introduced itself; raise ``StartError`` when it does not start."""

    @property
    def seconds(self) -> WorkerSeconds:
        """Return what all processes of the backend spent."""

    @property
    def outstanding(self) -> int:
        """Return how many submitted cases ``poll`` has not returned yet."""

    def submit(self, case: Request) -> int:
        """Queue a case, or the question for a schedule, and return its ticket."""

    def poll(self, timeout: float) -> list[tuple[int, Answer]]:
        """Return the answers that arrived, by ticket, waiting up to ``timeout`` seconds for the first."""

    def ask(self, case: Request) -> Answer:
        """Return the answer to one case or question."""

    def sibling(self) -> Self:
        """Return another worker of the same backend, always the same one; it is closed with this one."""

    def apart(self) -> Self | None:
        """Return a worker of the same backend that has one process, to be closed; ``None`` where there is no other."""

    def processes(self) -> list[psutil.Process]:
        """Return the processes of the backend that are there now."""

    def renew(self) -> None:
        """End the process, so that the next case begins with a fresh one."""

    def withdraw(self, ticket: int) -> bool:
        """Give up a submitted case that no process was sent yet; return whether it was such."""

    def cancel(self) -> None:
        """Give up what was submitted and not answered."""

    def close(self) -> None:
        """End the backend."""


class Closing(ABC):
    """What is closed at the end of a ``with``."""

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    @abstractmethod
    def close(self) -> None:
        """End what was opened."""
