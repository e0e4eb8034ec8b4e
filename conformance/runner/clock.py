"""Where the time of a run goes: one thread, so every second belongs to the phase that was entered last."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Phase = Literal["drawing", "reference", "judging", "waiting"]


class Clock:
    """Seconds by phase. A phase entered within another stops the outer one's time: nothing is counted twice."""

    def __init__(self) -> None:
        """Start with no time spent."""
        self.seconds: dict[Phase, float] = {}
        self._inner = 0.0

    @contextmanager
    def phase(self, name: Phase) -> Iterator[None]:
        """Count the time within as time of ``name``, but for the phases within it."""
        began, outer = time.perf_counter(), self._inner
        self._inner = 0.0
        try:
            yield
        finally:
            spent = time.perf_counter() - began
            self.seconds[name] = self.seconds.get(name, 0.0) + spent - self._inner
            self._inner = outer + spent
