"""Where the time of a run goes: one thread, so every second belongs to the phase that was entered last."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Phase = Literal["drawing", "reference", "judging", "waiting", "minimising"]


class Clock:
    """Seconds by phase. A phase entered within another stops the outer one's time: nothing is counted twice."""

    def __init__(self) -> None:
        """Start with no time spent."""
        self.seconds: dict[Phase, float] = {}
        self.of_backend: dict[tuple[str, Phase], float] = {}
        """The part of them that one backend's cases took alone, by its name."""
        self._inner = 0.0

    @contextmanager
    def phase(self, name: Phase, backend: str = "") -> Iterator[None]:
        """Count the time within as time of ``name``, but for the phases within it; of one backend where it is named."""
        began, outer = time.perf_counter(), self._inner
        self._inner = 0.0
        try:
            yield
        finally:
            spent = time.perf_counter() - began
            own = spent - self._inner
            self.seconds[name] = self.seconds.get(name, 0.0) + own
            if backend:
                self.of_backend[backend, name] = self.of_backend.get((backend, name), 0.0) + own
            self._inner = outer + spent
