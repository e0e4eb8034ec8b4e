"""Queues that begin when the host waits, one after the other, so that what a missing wait spoils shows in values.

Left to themselves, devices begin at once: a command that should wait for one of another queue mostly finds it done.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Final

import pyopencl as cl

PAUSE: Final = 3e-4
"""Seconds between two queues, in which the small kernels of a case run: PoCL's threads begin within a tenth of it."""


class Gates:
    """Gates of the queues of a context; whoever waits for an event opens them first."""

    def __init__(self, context: cl.Context, queues: Sequence[cl.CommandQueue]) -> None:
        """Begin with all of them open."""
        self._context, self._queues = context, queues
        self._shut: dict[int, cl.UserEvent] = {}
        self._last_first = True

    def shut(self, numbers: Iterable[int]) -> None:
        """Let what these queues are given from now on begin when the gates are opened."""
        for number in numbers:
            if number not in self._shut:
                gate = self._shut[number] = cl.UserEvent(self._context)
                cl.enqueue_barrier(self._queues[number], wait_for=[gate])

    def open(self) -> None:
        """Open all gates, the last queue's first, and the first queue's first the next time."""
        shut, self._shut = self._shut, {}
        for place, number in enumerate(sorted(shut, reverse=self._last_first)):
            if place:
                time.sleep(PAUSE)
            shut[number].set_status(cl.command_execution_status.COMPLETE)
        self._last_first = not self._last_first
