"""A program bound to its storages once, and started again and again: what it gives lies in the same ones each time.

Its kernels have their arguments from then on, and a start is an enqueue for each command, as long as nobody else uses
the storages. Of 49 us that a collective of 4 KiB on four ranks took by ``Engine.start``, the kernel took 5 and the rest
was looking for what is there (Intel's runtime, two cores, of which others had a half).
"""

from __future__ import annotations

from collections.abc import Mapping

import pyopencl as cl

from conformance.backends.opencl.runtime.command import Enqueue
from conformance.backends.opencl.runtime.memory import Cell, Storage, Use
from conformance.backends.opencl.runtime.plan import Plan, values_of
from conformance.backends.opencl.runtime.platform import Platform
from conformance.backends.opencl.runtime.value import DeviceValue


class Bound:
    """A plan on storages that stay. ``results`` are those of the last start, which the next one overwrites."""

    def __init__(self, plan: Plan, given: Mapping[int, Storage], platform: Platform) -> None:
        """Take the storages that exist before, by number, and those for all else."""
        self._plan, self._platform = plan, platform
        self._enqueues: list[tuple[Enqueue, tuple[int, ...]]] = []
        # Its own, as a buffer gives back the sub-buffers that are used least; released before what they are of.
        self._parts: dict[tuple[int, int, int], cl.Buffer] = {}
        self.storages = plan.storages(given)
        self.results: dict[str, DeviceValue] = values_of(plan.results, self.storages)
        self._events: list[cl.Event] = []
        self._last: list[cl.Event] = []
        for each in plan.commands:
            self._enqueues.append((each.bound(platform.queues[each.queue], self._part), each.after))
        uses: dict[int, dict[Use, int]] = {}
        for place, use, number in plan.last:
            uses.setdefault(place, {})[use] = number
        self._uses = [(self.storages[place].cell, found) for place, found in uses.items()]
        # What each cell has under way from the last start: where it is the same still, nobody else came.
        self._left: list[dict[Use, cl.Event]] = [{} for _ in self._uses]
        self._queues = sorted({each.queue for each in plan.commands})
        # The last command of each queue, after which all others of it are done.
        self._ends = sorted({each.queue: number for number, each in enumerate(plan.commands)}.values())

    def start(self) -> None:
        """Enqueue the program; nothing blocks."""
        alone = len(self._queues) == 1 or not self._events
        if self._platform.gates is not None or not alone or not self._undisturbed():
            self._events = self._last = self._plan.launch_on(self.storages).events
            return
        events: list[cl.Event] = []
        for enqueue, after in self._enqueues:
            events.append(enqueue(wait_for=[events[number] for number in after]) if after else enqueue())
        for queue in self._queues:
            self._platform.queues[queue].flush()
        for (cell, uses), left in zip(self._uses, self._left, strict=True):
            for use, number in uses.items():
                left[use] = events[number]
            cell.under_way = left
        self._events, self._last = events, [events[number] for number in self._ends]

    def _undisturbed(self) -> bool:
        """Return whether nothing is under way on the storages but what the last start left there."""
        return all(
            (cell.under_way is left and len(left) == len(uses)) or _alone(cell, uses)
            for (cell, uses), left in zip(self._uses, self._left, strict=True)
        )

    def wait(self) -> None:
        """Block until what was started last is done."""
        if self._events:
            self._platform.wait(self._last)
            self._events = []

    def _part(self, place: int, start: int, stop: int) -> cl.Buffer:
        cell = self.storages[place].cell
        if start == 0 and (stop == cell.size or not cell.divisible):
            return cell.buffer
        found = self._parts.get((place, start, stop))
        if found is None:
            found = self._parts[place, start, stop] = cell.buffer.get_sub_region(start, stop - start)
        return found


def _alone(cell: Cell, uses: Mapping[Use, int]) -> bool:
    """Return whether nothing is under way on a buffer but ``uses``."""
    if not cell.under_way.keys() <= uses.keys():
        cell.forget()
    return cell.under_way.keys() <= uses.keys()
