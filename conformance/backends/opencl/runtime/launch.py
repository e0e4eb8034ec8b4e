"""A schedule on the devices: everything is enqueued at once, ordered by events, and waited for only when read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph import Buffer, Node
from conformance.backends.opencl.render import SLOTS
from conformance.backends.opencl.runtime.kernels import Kernels
from conformance.backends.opencl.runtime.memory import Memory
from conformance.backends.opencl.runtime.platform import Platform
from conformance.backends.opencl.runtime.table import table
from conformance.backends.opencl.schedule import Barrier, Constant, Item, Kernel, Schedule, Transfer, Upload

Bytes = NDArray[np.uint8]

LOCAL: Final = 64
"""The one work-group width: a new width costs a compilation of 35 to 70 ms, and 64 to 4096 run alike on PoCL."""


class Launch:
    """A schedule in flight. It keeps every buffer, kernel argument and host array alive until ``close``."""

    def __init__(
        self,
        plan: Schedule,
        inputs: dict[tuple[str, int], Bytes],
        platform: Platform,
        memory: Memory,
        kernels: Kernels,
    ) -> None:
        """Enqueue ``plan`` on ``inputs``, the bytes of each storage by name and rank. Nothing blocks."""
        self._platform, self._memory, self._kernels = platform, memory, kernels
        self._inputs = inputs
        self._buffers: dict[Node, cl.Buffer] = {}
        self._extra: list[cl.Buffer] = []
        self._events: list[cl.Event] = []
        self._items = plan.items
        self._writers: dict[Node, list[int]] = {}
        try:
            for node in plan.nodes:
                self._buffers[node] = memory.allocate(node.size * FORMATS[node.dtype].itemsize)
            launched = [item for item in plan.items if isinstance(item, Kernel)]
            content, self._begins = table(launched)
            if launched:
                self._table = memory.constant(content)
                self._extra.append(self._table)
            for number, item in enumerate(plan.items):
                self._events.append(self._enqueue(item))
                for access in item.accesses:
                    if access.write:
                        self._writers.setdefault(access.node, []).append(number)
        except BaseException:
            self.close()
            raise

    def read(self, node: Node) -> Bytes:
        """Return the bytes of a node, on their way: they are there after ``wait``."""
        found = np.empty(node.size * FORMATS[node.dtype].itemsize, np.uint8)
        if not node.size:
            return found
        queue = self._platform.queue_of(node.device)
        waits = self._waits(self._writers[node], queue)
        cl.enqueue_copy(self._platform.queues[queue], found, self._buffers[node], is_blocking=False, wait_for=waits)
        return found

    def wait(self) -> None:
        """Block until everything enqueued so far is done."""
        # A queue may wait for another's events, so all are submitted before any is waited for.
        for queue in self._platform.queues:
            queue.flush()
        for queue in self._platform.queues:
            queue.finish()

    def read_inputs(self) -> None:
        """Put the bytes of every uploaded storage back into the array it came from, once all items are done."""
        self.wait()
        for node, buffer in self._buffers.items():
            if isinstance(node, Buffer):
                queue = self._platform.queues[self._platform.queue_of(node.device)]
                cl.enqueue_copy(queue, self._inputs[node.name, node.device], buffer, is_blocking=False)
        self.wait()

    def close(self) -> None:
        """Wait, then give all memory back."""
        self.wait()
        # Sub-buffers first: a parent must outlive them.
        while self._extra:
            self._memory.release(self._extra.pop())
        while self._buffers:
            self._memory.release(self._buffers.popitem()[1])
        self._events.clear()

    def _waits(self, items: Iterable[int], queue: int) -> list[cl.Event] | None:
        """Return the events ``queue`` must wait for; an in-order queue needs only the last of every other."""
        last: dict[int, int] = {}
        for number in items:
            other = self._platform.queue_of(self._items[number].device)
            if other != queue:
                last[other] = max(number, last.get(other, -1))
        return [self._events[number] for number in last.values()] or None

    def _enqueue(self, item: Item) -> cl.Event:
        number = self._platform.queue_of(item.device)
        queue, waits = self._platform.queues[number], self._waits(item.after, number)
        if isinstance(item, Kernel):
            return self._kernel(item, queue, waits)
        if isinstance(item, Transfer):
            return cl.enqueue_copy(
                queue,
                self._buffers[item.target],
                self._buffers[item.source],
                byte_count=item.size,
                src_offset=item.start,
                wait_for=waits,
            )
        if isinstance(item, Upload):
            content = self._inputs[item.node.name, item.node.device]
            return cl.enqueue_copy(queue, self._buffers[item.node], content, is_blocking=False, wait_for=waits)
        if isinstance(item, Constant):
            value, size = np.array(item.node.value, np.int32), 4 * item.node.size
            return cl.enqueue_fill_buffer(queue, self._buffers[item.node], value, 0, size, wait_for=waits)
        if isinstance(item, Barrier):
            return cl.enqueue_barrier(queue, wait_for=waits)
        raise TypeError(f"no device can do a {type(item).__name__}")

    def _kernel(self, item: Kernel, queue: cl.CommandQueue, waits: list[cl.Event] | None) -> cl.Event:
        targets = [self._target(item, place) for place in range(len(item.targets))]
        sources = [self._buffers[node] for node in item.sources]
        unused = [None] * (item.body.targets - len(targets)), [None] * (SLOTS - len(sources))
        kernel = self._kernels.kernel(item.body)
        kernel.set_args(*targets, *unused[0], *sources, *unused[1], self._table)
        longest = max(work.size for work in item.works)
        # Whole work-groups, and a guard in the kernel: not every device takes a ragged last one.
        extent = (-(-longest // LOCAL) * LOCAL, len(item.works))
        return cl.enqueue_nd_range_kernel(queue, kernel, extent, (LOCAL, 1), (0, self._begins[item]), wait_for=waits)

    def _target(self, item: Kernel, place: int) -> cl.Buffer:
        target = item.targets[place]
        parent = self._buffers[target.node]
        if target.size == target.node.size:
            return parent
        width = FORMATS[target.node.dtype].itemsize
        part = self._memory.within(parent, target.first * width, target.size * width)
        self._extra.append(part)
        return part
