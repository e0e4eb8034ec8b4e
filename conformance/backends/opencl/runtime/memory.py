"""Device memory, counted: what is alive is known at any time, and what was given back serves again."""

from __future__ import annotations

from typing import Any, Final

import pyopencl as cl

Use = tuple[int, bool, int, int]
"""The queue of a command, whether it writes, and the bytes from a first up to a last that it binds."""

KEPT_BYTES: Final = 2**30
"""Memory kept for its next use at most. First touch is what it saves: 200 to 400 us for each 4 MiB."""

KEPT_BUFFERS: Final = 4096

FORGET: Final = 32
"""Commands under way that a buffer remembers before it looks which of them are done."""


PARTS: Final = 64
"""Sub-buffers that a buffer keeps, the least recently used given back first; one command binds 16 at most."""


class Cell:
    """One buffer, its sub-buffers unless it is not ``divisible``, and the commands under way on it."""

    __slots__ = ("buffer", "divisible", "parts", "size", "under_way")

    def __init__(self, buffer: cl.Buffer, size: int, *, divisible: bool = True) -> None:
        """Take a buffer of ``size`` bytes that nothing uses yet."""
        self.buffer, self.size, self.divisible = buffer, size, divisible
        self.parts: dict[tuple[int, int], cl.Buffer] = {}
        self.under_way: dict[Use, cl.Event] = {}

    def part(self, start: int, stop: int) -> cl.Buffer:
        """Return a memory object that begins at byte ``start``: the buffer, or a sub-buffer to ``stop``, made once."""
        if start == 0 and (stop == self.size or not self.divisible):
            return self.buffer
        found = self.parts.pop((start, stop), None)
        if found is None:
            if len(self.parts) >= PARTS:
                self.parts.pop(next(iter(self.parts))).release()
            found = self.buffer.get_sub_region(start, stop - start)
        self.parts[start, stop] = found
        return found

    def conflicts(self, queue: int, start: int, stop: int, *, write: bool) -> list[cl.Event]:
        """Return the events that a command on ``queue`` must wait for; queues are in order, so only those of others."""
        return [
            event
            for (other, wrote, first, last), event in self.under_way.items()
            if other != queue and (write or wrote) and first < stop and start < last
        ]

    def enqueued(self, use: Use, event: cl.Event) -> None:
        """Remember a command that waits for all it conflicts with, so that later ones can wait for it."""
        if len(self.under_way) > FORGET:
            self.forget()
        self.under_way[use] = event

    def forget(self) -> None:
        """Forget the commands that are done, and those that failed, for which nobody could wait."""
        done = cl.command_execution_status.COMPLETE
        self.under_way = {key: each for key, each in self.under_way.items() if each.command_execution_status > done}

    def release(self) -> None:
        """Give the memory back to OpenCL, which keeps it until the commands that use it are done."""
        # Sub-buffers first: a parent must outlive them.
        for part in self.parts.values():
            part.release()
        self.buffer.release()


class Storage:
    """The bytes of a value on the devices, for as long as somebody holds it."""

    __slots__ = ("__weakref__", "_lasting", "_memory", "cell")

    def __init__(self, memory: Memory, cell: Cell, *, lasting: bool = False) -> None:
        """Hold ``cell`` of ``memory``; a ``lasting`` one is a plan's own, and no value."""
        self._memory, self.cell, self._lasting = memory, cell, lasting

    def __del__(self) -> None:
        """Give the bytes back; commands under way still have them."""
        self._memory.take_back(self.cell, lasting=self._lasting)


class Memory:
    """Buffers of one context.

    ``live`` counts storages of values that somebody holds, ``lasting`` those that plans keep for their launches, and
    ``held`` the memory objects that exist. With ``reuse`` off nothing is
    kept. With ``divisible`` off no sub-buffer is made.
    """

    def __init__(self, context: cl.Context, *, reuse: bool = True, divisible: bool = True) -> None:
        """Start with nothing alive."""
        self._context, self._reuse, self._divisible = context, reuse, divisible
        self._free: dict[int, list[Cell]] = {}
        self._free_bytes = self._free_buffers = 0
        self._cells: set[Cell] = set()
        self._constants = self.live = self.lasting = 0

    @property
    def held(self) -> int:
        """Return how many memory objects exist: buffers in use or kept, their sub-buffers, and constants."""
        return self._constants + sum(1 + len(cell.parts) for cell in self._cells)

    def allocate(self, size: int, *, lasting: bool = False) -> Storage:
        """Return ``size`` undefined bytes; raise ``ValueError`` for none, which OpenCL refuses."""
        free = self._free.get(size)
        if free:
            # The last one given back is the likeliest to be in a cache still.
            cell = free.pop()
            self._free_bytes -= size
            self._free_buffers -= 1
        else:
            if size < 1:
                raise ValueError(f"a buffer needs at least one byte, got {size}; empty blocks never reach a device")
            made = cl.Buffer(self._context, cl.mem_flags.READ_WRITE, size=size)
            cell = Cell(made, size, divisible=self._divisible)
            self._cells.add(cell)
        self._count(1, lasting=lasting)
        return Storage(self, cell, lasting=lasting)

    def _count(self, more: int, *, lasting: bool) -> None:
        if lasting:
            self.lasting += more
        else:
            self.live += more

    def take_back(self, cell: Cell, *, lasting: bool = False) -> None:
        """Keep the bytes of a storage that nobody holds any more for their next use, or release them."""
        self._count(-1, lasting=lasting)
        # The event of an upload keeps the array that it came from alive. One under way is kept until the cell forgets
        # again: a dropped one is waited for.
        if any(isinstance(event, cl.NannyEvent) for event in cell.under_way.values()):
            cell.forget()
        if not self._reuse or cell.size > KEPT_BYTES:
            self._release(cell)
            return
        if self._free_bytes + cell.size > KEPT_BYTES or self._free_buffers >= KEPT_BUFFERS:
            self.trim()
        self._free.setdefault(cell.size, []).append(cell)
        self._free_bytes += cell.size
        self._free_buffers += 1

    def trim(self) -> None:
        """Release all that is kept for its next use."""
        for cells in self._free.values():
            for cell in cells:
                self._release(cell)
        self._free.clear()
        self._free_bytes = self._free_buffers = 0

    def constant(self, content: Any) -> cl.Buffer:
        """Return a read-only buffer with the bytes of an array, ready for every device of the context."""
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        buffer = cl.Buffer(self._context, flags, hostbuf=content)
        self._constants += 1
        return buffer

    def release(self, constant: cl.Buffer) -> None:
        """Give a constant back; nothing is enqueued with it any more after this."""
        constant.release()
        self._constants -= 1

    def _release(self, cell: Cell) -> None:
        cell.release()
        self._cells.remove(cell)
