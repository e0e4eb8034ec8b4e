"""One thread that feeds and hears several workers at once."""

from __future__ import annotations

import selectors
import time
from collections.abc import Sequence
from typing import Protocol, TypeVar


class Waitable(Protocol):
    """What ``wait`` needs of a worker."""

    @property
    def answered(self) -> bool:
        """Return whether ``poll(0)`` has something to return."""

    def descriptors(self) -> list[tuple[int, int]]:
        """Return descriptors and their ``selectors`` events."""

    def due(self) -> float:
        """Return the seconds until ``advance`` must be called although no descriptor is ready."""

    def advance(self) -> None:
        """Do everything that can be done now without waiting."""


_W = TypeVar("_W", bound=Waitable)


def wait(workers: Sequence[_W], timeout: float) -> list[_W]:
    """Feed and hear all ``workers`` until one has an answer or ``timeout`` seconds passed; return those that have."""
    deadline = time.monotonic() + timeout
    while True:
        for worker in workers:
            worker.advance()
        ready = [worker for worker in workers if worker.answered]
        left = deadline - time.monotonic()
        if ready or left <= 0:
            return ready
        listen(workers, min([left, *(worker.due() for worker in workers)]))


def listen(workers: Sequence[Waitable], seconds: float) -> None:
    """Return when a descriptor of any worker is ready or ``seconds`` have passed."""
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            for descriptor, events in worker.descriptors():
                selector.register(descriptor, events)
        selector.select(max(seconds, 0.0))
