"""Device memory, counted: what is alive is known at any time."""

from __future__ import annotations

from typing import Any

import pyopencl as cl


class Memory:
    """Buffers of one context. ``live`` counts those not yet released, sub-buffers included."""

    def __init__(self, context: cl.Context) -> None:
        """Start with nothing alive."""
        self._context = context
        self.live = 0

    def allocate(self, size: int) -> cl.Buffer:
        """Return an uninitialised buffer of ``size`` bytes; raise ``ValueError`` for none, which OpenCL refuses."""
        if size < 1:
            raise ValueError(f"a buffer needs at least one byte, got {size}; empty blocks never reach a device")
        buffer = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, size=size)
        self.live += 1
        return buffer

    def constant(self, content: Any) -> cl.Buffer:
        """Return a read-only buffer with the bytes of an array, ready for every device of the context."""
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        buffer = cl.Buffer(self._context, flags, hostbuf=content)
        self.live += 1
        return buffer

    def within(self, parent: cl.Buffer, start: int, size: int) -> cl.Buffer:
        """Return a sub-buffer of ``size`` bytes from ``start``, which must be aligned for every device."""
        buffer = parent.get_sub_region(start, size)
        self.live += 1
        return buffer

    def release(self, buffer: cl.Buffer) -> None:
        """Give a buffer back; nothing enqueued may still use it."""
        buffer.release()
        self.live -= 1
