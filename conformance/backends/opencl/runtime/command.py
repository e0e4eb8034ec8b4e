"""Items made ready to be enqueued again and again, on whatever storages a launch brings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
import pyopencl as cl

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Launch, Node
from conformance.backends.opencl.render.fused import fused, geometry
from conformance.backends.opencl.render.kernels import alone
from conformance.backends.opencl.runtime.kernels import Kernels
from conformance.backends.opencl.runtime.memory import Cell
from conformance.backends.opencl.schedule.item import (
    Barrier,
    Constant,
    Fused,
    Item,
    Kernel,
    Region,
    Transfer,
    blocks,
    pattern,
)
from conformance.backends.opencl.schedule.memory_plan import MemoryPlan

LOCAL: Final = 64
"""The one work-group width: a new width costs a compilation of 35 to 70 ms, and 64 to 4096 run alike on PoCL."""

Bound = tuple[int, int, int]
"""Bytes of a storage that a command binds: the place of the storage, the first, and the one after the last."""

Cells = Sequence[Cell]
Events = list[cl.Event]

Part = Callable[[int, int, int], cl.Buffer]
"""Take what a command binds, and return a memory object of it."""

Enqueue = Callable[..., cl.Event]
"""Enqueue a command whose arguments are bound; ``wait_for`` are events."""


class Command:
    """One item. ``after`` are the commands of other queues it waits for, ``uses`` the bytes it binds and writes."""

    def __init__(self, item: Item, queue: int, after: tuple[int, ...], memory: MemoryPlan) -> None:
        """Number what ``item`` uses as ``memory`` says."""
        self.queue, self.after = queue, after
        self.uses = tuple((*_lying(a.node, a.start, a.stop, memory), a.write) for a in item.accesses)

    def enqueue(self, queue: cl.CommandQueue, cells: Cells, waits: Events | None) -> cl.Event:
        """Enqueue the command on the storages of a launch and return its event."""
        return cl.enqueue_barrier(queue, wait_for=waits)

    def bound(self, queue: cl.CommandQueue, part: Part) -> Enqueue:
        """Return what enqueues the command on storages of which it binds parts now."""
        return partial(cl.enqueue_barrier, queue)


class KernelCommand(Command):
    """A launch of a kernel, which every plan that needs it shares: making one costs 140 us, giving it arguments 1."""

    def __init__(
        self,
        item: Kernel,
        queue: int,
        after: tuple[int, ...],
        memory: MemoryPlan,
        launched: tuple[cl.Kernel, cl.Buffer | None, int],
        *,
        any_size: bool,
    ) -> None:
        """Take the kernel, the table and where the table lists the parts; groups may have ``any_size``."""
        super().__init__(item, queue, after, memory)
        self._kernel, self._table, begins = launched
        self._targets = [_bound(region, memory) for region in item.targets]
        self._sources = [_bound(region, memory) for region in item.sources]
        self._no_targets = [None] * (item.body.targets - len(self._targets))
        self._no_sources = [None] * (item.body.sources - len(self._sources))
        longest = max(blocks(item.body, work) for work in item.works)
        # Whole work-groups, and a guard in the kernel: not every device takes a ragged last one.
        self._extent, self._local = (-(-longest // LOCAL) * LOCAL, len(item.works)), (LOCAL, 1)
        if any_size and item.body.joint and longest * len(item.works) <= LOCAL:
            # One group keeps other threads asleep: 8.2 us for what took 11.4 as four.
            self._extent = self._local = (longest, len(item.works))
        self._offset = (0, begins)

    def enqueue(self, queue: cl.CommandQueue, cells: Cells, waits: Events | None) -> cl.Event:
        """Enqueue the kernel; OpenCL reads its arguments now and keeps their memory until it is done."""
        self._set_arguments(self._kernel, lambda place, start, stop: cells[place].part(start, stop))
        return cl.enqueue_nd_range_kernel(queue, self._kernel, self._extent, self._local, self._offset, wait_for=waits)

    def bound(self, queue: cl.CommandQueue, part: Part) -> Enqueue:
        """Return the launch of a kernel of its own."""
        kernel = self._kernel.clone()
        self._set_arguments(kernel, part)
        return partial(cl.enqueue_nd_range_kernel, queue, kernel, self._extent, self._local, self._offset)

    def _set_arguments(self, kernel: cl.Kernel, part: Part) -> None:
        kernel.set_args(
            *[part(*each) for each in self._targets],
            *self._no_targets,
            *[part(*each) for each in self._sources],
            *self._no_sources,
            self._table,
        )


class FusedCommand(Command):
    """A launch of instructions of its own: a work-item for each point of what is stored."""

    def __init__(
        self,
        item: Fused,
        queue: int,
        after: tuple[int, ...],
        memory: MemoryPlan,
        kernel: cl.Kernel,
        numbers: tuple[cl.Buffer, np.int32] | tuple[()] = (),
    ) -> None:
        """Take the storages off the item; ``numbers`` are those that a generic kernel takes, and where they begin."""
        super().__init__(item, queue, after, memory)
        self._kernel, self._numbers = kernel, numbers
        self._bound = [_bound(region, memory) for region in (*item.sources, *item.targets)]
        self._extent, self._local = geometry(item.launch, LOCAL)

    def enqueue(self, queue: cl.CommandQueue, cells: Cells, waits: Events | None) -> cl.Event:
        """Enqueue the kernel."""
        self._kernel.set_args(*[cells[place].part(start, stop) for place, start, stop in self._bound], *self._numbers)
        return cl.enqueue_nd_range_kernel(queue, self._kernel, self._extent, self._local, wait_for=waits)

    def bound(self, queue: cl.CommandQueue, part: Part) -> Enqueue:
        """Return the launch of a kernel of its own."""
        kernel = self._kernel.clone()
        kernel.set_args(*[part(*each) for each in self._bound], *self._numbers)
        return partial(cl.enqueue_nd_range_kernel, queue, kernel, self._extent, self._local)


class TransferCommand(Command):
    """A copy on the devices."""

    def __init__(self, item: Transfer, queue: int, after: tuple[int, ...], memory: MemoryPlan) -> None:
        """Take regions and offsets off the item."""
        super().__init__(item, queue, after, memory)
        self._target, self._source = _bound(item.target, memory), _bound(item.source, memory)
        self._sizes = {"byte_count": item.size, "src_offset": item.start, "dst_offset": item.at}

    def enqueue(self, queue: cl.CommandQueue, cells: Cells, waits: Events | None) -> cl.Event:
        """Enqueue the copy."""
        place, start, stop = self._target
        target = cells[place].part(start, stop)
        place, start, stop = self._source
        source = cells[place].part(start, stop)
        return cl.enqueue_copy(queue, target, source, wait_for=waits, **self._sizes)

    def bound(self, queue: cl.CommandQueue, part: Part) -> Enqueue:
        """Return the copy."""
        return partial(cl.enqueue_copy, queue, part(*self._target), part(*self._source), **self._sizes)


class ConstantCommand(Command):
    """One number in every element."""

    def __init__(self, item: Constant, queue: int, after: tuple[int, ...], memory: MemoryPlan) -> None:
        """Take the number off the item."""
        super().__init__(item, queue, after, memory)
        self._size = FORMATS[item.node.dtype].itemsize * item.node.size
        self._bound = _lying(item.node, 0, self._size, memory)
        self._value = np.frombuffer(pattern(item.node), np.uint8)

    def enqueue(self, queue: cl.CommandQueue, cells: Cells, waits: Events | None) -> cl.Event:
        """Enqueue the fill."""
        place, start, stop = self._bound
        target = cells[place].part(start, stop)
        return cl.enqueue_fill_buffer(queue, target, self._value, 0, self._size, wait_for=waits)

    def bound(self, queue: cl.CommandQueue, part: Part) -> Enqueue:
        """Return the fill."""
        return partial(cl.enqueue_fill_buffer, queue, part(*self._bound), self._value, 0, self._size)


class Ready(NamedTuple):
    """What kernels need besides storages: the kernels, the table, and where it lists each item's parts.

    ``numbers`` are those that generic kernels take, from ``firsts`` on. What binds fewer elements than
    ``optimise_from`` is not optimised.
    """

    kernels: Kernels
    table: cl.Buffer | None
    begins: Mapping[Kernel, int]
    numbers: cl.Buffer | None = None
    firsts: Mapping[Launch, int] = MappingProxyType({})
    optimise_from: int = 0


def command(item: Item, queue: int, after: tuple[int, ...], memory: MemoryPlan, launched: Ready) -> Command:
    """Return the command of ``item``; raise ``TypeError`` for an item that no device can do."""
    if isinstance(item, Kernel):
        small = is_small(item, launched.kernels, launched.optimise_from)
        kernel = launched.kernels.fused(alone(item.body)) if small else launched.kernels.kernel(item.body)
        # PoCL compiles a kernel anew for each size, in 0.2 s.
        any_size = not launched.kernels.together
        return KernelCommand(
            item, queue, after, memory, (kernel, launched.table, launched.begins[item]), any_size=any_size
        )
    if isinstance(item, Fused):
        kernel, first = launched.kernels.fused(fused(item.launch)), launched.firsts.get(item.launch)
        numbers = () if first is None or launched.numbers is None else (launched.numbers, np.int32(first))
        return FusedCommand(item, queue, after, memory, kernel, numbers)
    if isinstance(item, Transfer):
        return TransferCommand(item, queue, after, memory)
    if isinstance(item, Constant):
        return ConstantCommand(item, queue, after, memory)
    if isinstance(item, Barrier):
        return Command(item, queue, after, memory)
    raise TypeError(f"no device can do a {type(item).__name__}")


def is_small(item: Kernel, kernels: Kernels, optimise_from: int) -> bool:
    """Return whether an item's kernel is one of those that are built for a plan, all together and not optimised."""
    elements = sum(region.size for region in (*item.sources, *item.targets))
    return not kernels.together and item.body.stream is None and elements < optimise_from


def _bound(region: Region, memory: MemoryPlan) -> Bound:
    width = FORMATS[region.node.dtype].itemsize
    return _lying(region.node, region.first * width, (region.first + region.size) * width, memory)


def _lying(node: Node, start: int, stop: int, memory: MemoryPlan) -> Bound:
    """Return where bytes ``start`` to ``stop`` of a node lie."""
    offset = memory.offsets[node]
    return memory.places[node], offset + start, offset + stop
