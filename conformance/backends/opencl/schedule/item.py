"""What devices do, as frozen items: kernels, copies, constants and barriers, each with what it reads and writes."""

from __future__ import annotations

import msgspec

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Fill, Launch, Node
from conformance.backends.opencl.graph.view import View
from conformance.backends.opencl.render.kernels import Body
from conformance.backends.opencl.schedule.hazards import Access


def pattern(node: Fill) -> bytes:
    """Return the bytes of one element of a ``Fill``, lowest first."""
    bits = 8 * FORMATS[node.dtype].itemsize
    return (node.value % (1 << bits)).to_bytes(bits // 8, "little")


class Region(msgspec.Struct, frozen=True):
    """Elements ``first`` to ``first + size`` of a storage, bound as one memory object: all of it, or a sub-buffer."""

    node: Node
    first: int
    size: int

    def access(self, *, write: bool) -> Access:
        """Return the bytes of the region as read or written."""
        width = FORMATS[self.node.dtype].itemsize
        return Access(self.node, self.first * width, (self.first + self.size) * width, write)


class Work(msgspec.Struct, frozen=True):
    """One part of a kernel: ``size`` elements from ``first`` of the loads' shape, folded and stored.

    Loads and stores are ``(slot, view)``; all views have one shape. ``within`` are, for each load, the axes that are
    folded away at every one of its elements. ``mode`` is one of ``render.MODES`` and ``scalar`` its bits.
    """

    first: int
    size: int
    loads: tuple[tuple[int, View], ...]
    stores: tuple[tuple[int, View], ...]
    within: tuple[View, ...] = ()
    mode: str = "plain"
    scalar: int = 0


def blocks(body: Body, work: Work) -> int:
    """Return how many work-items a part takes; one of a kernel that moves rows of runs has elements of one row."""
    run = work.stores[0][1].shape[-1] if body.stream is not None and body.operation == "move" else work.size
    return work.size // run * -(-run // body.elements)


class Item(msgspec.Struct, frozen=True, eq=False):
    """Something a device does, once the items numbered ``after`` are done (those on its own queue included).

    An access covers all of the memory object that is used, not only what is touched of it: a buffer and its
    sub-buffers may not be written side by side, whichever bytes are meant.
    """

    device: int
    accesses: tuple[Access, ...]
    after: tuple[int, ...]


class Transfer(Item, frozen=True, eq=False):
    """``size`` bytes from byte ``start`` of region ``source`` to byte ``at`` of region ``target``."""

    source: Region
    target: Region
    start: int
    at: int
    size: int


class Constant(Item, frozen=True, eq=False):
    """The value of a ``Fill`` in every element of its storage."""

    node: Fill


class Barrier(Item, frozen=True, eq=False):
    """Nothing later on the device begins before the items it waits for are done."""


class Kernel(Item, frozen=True, eq=False):
    """One launch of ``body``; the views of its works count from the beginning of the region in their slot."""

    body: Body
    targets: tuple[Region, ...]
    sources: tuple[Region, ...]
    works: tuple[Work, ...]


class Fused(Item, frozen=True, eq=False):
    """One launch of instructions of its own, whose loads and stores are all of the storages they name."""

    launch: Launch
    sources: tuple[Region, ...]
    targets: tuple[Region, ...]
