"""What the processes of one backend spent, as they say, and what it took to talk to them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from conformance.backends.protocol import Spent


@dataclass
class WorkerSeconds:
    """Seconds, of all processes of a backend.

    Compilers took ``compile``, what else answers took is ``execution``. The ``rest`` is what a process did besides
    while it had a request: it read requests, looked ahead, and wrote answers. ``transport`` is what that took here.
    """

    compile: float = 0.0
    execution: float = 0.0
    rest: float = 0.0
    transport: float = 0.0

    @contextmanager
    def transporting(self) -> Iterator[None]:
        """Count the time within as time of this process for requests and answers."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.transport += time.perf_counter() - began

    def hear(self, seconds: float, spent: Spent) -> None:
        """Add what an answer took, ``seconds`` by itself, and what the process says that it spent."""
        self.compile += spent.compile
        self.execution += max(0.0, seconds - spent.compile)
        self.rest += max(0.0, spent.busy - max(seconds, spent.compile))
