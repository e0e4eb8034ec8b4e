"""The floor of the native backend: an empty kernel, enqueued on the same device and finished."""

from __future__ import annotations

import pyopencl as cl

from conformance.backends.opencl.runtime.platform import open_platform
from conformance.backends.opencl.settings import from_environment
from conformance.bench.collectives.point import Point


class Floor:
    """A kernel of one work-item that does nothing."""

    def __init__(self) -> None:
        """Open the platform and build the kernel."""
        self._platform = open_platform(from_environment())
        self._queue = self._platform.queues[0]
        # Kept, for a kernel alone does not keep what it is of.
        self._program = cl.Program(self._platform.context, "__kernel void nothing() {}").build()
        self._kernel = self._program.nothing

    def describe(self) -> dict[str, str]:
        """Return the platform."""
        return {"platform": self._platform.description["platform"]}

    def prepare(self, _point: Point) -> None:
        """Do nothing: every size is alike."""

    def once(self) -> None:
        """Enqueue the kernel and wait until it is done."""
        cl.enqueue_nd_range_kernel(self._queue, self._kernel, (1,), (1,))
        self._queue.finish()

    def meet(self) -> None:
        """Do nothing: there is one process."""

    def wrong(self) -> int:
        """Return that nothing is wrong where nothing is computed."""
        return 0


def peer(_rank: int, _ranks: int, _folder: str) -> Floor:
    """Return the peer."""
    return Floor()
