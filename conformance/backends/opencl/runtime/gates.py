"""Queues that begin when the host waits, one after the other, so that what a missing wait spoils shows in values.

Left to themselves, devices begin at once: a command that should wait for one of another queue mostly finds it done.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Final

import pyopencl as cl

PATIENCE: Final = 1e-3
"""Seconds that a queue is given to come to its end before the next one begins; it may have to wait for that one. The
small kernels of a case run in some tens of microseconds, and PoCL's threads begin as fast."""

LOOK: Final = 2e-5
"""Seconds after which a queue is looked at again."""


class Gates:
    """Gates of the queues of a context; whoever waits for an event opens them first."""

    def __init__(self, context: cl.Context, queues: Sequence[cl.CommandQueue]) -> None:
        """Begin with all of them open."""
        self._context, self._queues = context, queues
        self._shut: dict[int, cl.UserEvent] = {}
        self._kept: list[cl.Event] = []
        self._last_first = True

    def shut(self, numbers: Iterable[int]) -> None:
        """Let what these queues are given from now on begin when the gates are opened."""
        for number in numbers:
            if number not in self._shut:
                gate = self._shut[number] = cl.UserEvent(self._context)
                cl.enqueue_barrier(self._queues[number], wait_for=[gate])

    def open_for(self, events: Sequence[cl.Event]) -> None:
        """Open gates until all that ``events`` are of is done: the last queue's first, the next time the first's.

        What nobody waits for stays as it is.
        """
        for number in sorted(self._shut, reverse=self._last_first):
            if all(map(_done, events)):
                break
            _open(self._shut.pop(number))
            self._run(self._queues[number])
        self._last_first = not self._last_first
        self._kept = [event for event in self._kept if not _done(event)]

    def keep(self, event: cl.Event) -> None:
        """Hold the event of a copy from the host until it is done: who drops one, waits for it."""
        self._kept.append(event)

    def _run(self, queue: cl.CommandQueue) -> None:
        """Let a queue run, to its end if it comes to it."""
        end, late = cl.enqueue_marker(queue), time.monotonic() + PATIENCE
        queue.flush()
        while not _done(end) and time.monotonic() < late:
            time.sleep(LOOK)

    def open(self) -> None:
        """Open all gates."""
        while self._shut:
            _open(self._shut.popitem()[1])


def _done(event: cl.Event) -> bool:
    return bool(event.command_execution_status == cl.command_execution_status.COMPLETE)


def _open(gate: cl.UserEvent) -> None:
    gate.set_status(cl.command_execution_status.COMPLETE)
