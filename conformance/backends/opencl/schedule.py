"""Nodes become ordered items: uploads, copies and kernels, each with the byte ranges it reads and writes.

Only nodes that a result needs are scheduled, and blocks without elements never are. Items are ordered by
depth, so that devices work side by side; edges come from hazards over byte ranges, not from the graph.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.fuse import Filled, filled
from conformance.backends.opencl.graph import Buffer, Copy, Elementwise, Join, Movement, Node, Part, Reduce
from conformance.backends.opencl.hazards import Access, Hazards
from conformance.backends.opencl.order import reachable
from conformance.backends.opencl.render import SLOTS, Body
from conformance.backends.opencl.view import View, coalesced, contiguous


class Work(msgspec.Struct, frozen=True):
    """One part of a kernel: ``size`` elements from ``first`` of the loads' shape, folded and stored.

    Loads and stores are ``(slot, view)``; all views have one shape.
    """

    first: int
    size: int
    loads: tuple[tuple[int, View], ...]
    stores: tuple[tuple[int, View], ...]


class Target(msgspec.Struct, frozen=True, eq=False):
    """A storage, or elements ``first`` to ``first + size`` of it, that a kernel writes."""

    node: Node
    first: int
    size: int


class Item(msgspec.Struct, frozen=True, eq=False):
    """Something a device does, once the items numbered ``after`` are done (those on its own queue included)."""

    device: int
    accesses: tuple[Access, ...]
    after: tuple[int, ...]


class Upload(Item, frozen=True, eq=False):
    """The bytes of an input storage, from the host."""

    node: Buffer


class Transfer(Item, frozen=True, eq=False):
    """``size`` bytes from byte ``start`` of one storage to the beginning of another."""

    source: Node
    target: Node
    start: int
    size: int


class Kernel(Item, frozen=True, eq=False):
    """One launch of ``body``."""

    body: Body
    targets: tuple[Target, ...]
    sources: tuple[Node, ...]
    works: tuple[Work, ...]


class Schedule(msgspec.Struct, frozen=True, eq=False):
    """Items in an order that respects every edge, and the storages they need."""

    items: tuple[Item, ...]
    nodes: tuple[Node, ...]


def schedule(results: tuple[Movement, ...], alignment: int) -> Schedule:
    """Return the schedule of the results; sub-buffers begin at multiples of ``alignment`` bytes."""
    order = reachable(results)
    fill = filled(order, results, alignment)
    hazards = Hazards()
    items: list[Item] = []
    for node in order:
        for item in _items(node, fill):
            items.append(msgspec.structs.replace(item, after=hazards.record(len(items), item.accesses)))
    return Schedule(tuple(items), tuple(node for node in order if node not in fill.within))


def _items(node: Node, fill: Filled) -> Iterator[Item]:
    if isinstance(node, Buffer):
        yield Upload(node.device, (Access(node, 0, _bytes(node), write=True),), (), node)
    elif isinstance(node, Copy):
        width = FORMATS[node.dtype].itemsize
        start, size = node.start * width, node.size * width
        accesses = (Access(node.source, start, start + size, write=False), Access(node, 0, size, write=True))
        yield Transfer(node.device, accesses, (), node.source, node, start, size)
    elif isinstance(node, Elementwise):
        yield _fold(node, "cast", (node.operand,), 0, fill)
    elif isinstance(node, Reduce):
        yield _fold(node, node.op, node.operands, node.first, fill)
    elif isinstance(node, Join) and node not in fill.joins:
        yield from _join(node)


def _fold(node: Node, op: str, operands: tuple[Movement, ...], first: int, fill: Filled) -> Kernel:
    targets = tuple(Target(*place) for place in fill.within.get(node, ((node, 0, node.size),)))
    sources, slots = _slots([operand.node for operand in operands])
    # A kernel sees its targets from their own beginning, so element ``first`` is stored at 0.
    stored = contiguous(operands[0].view.shape).shifted(-first)
    views = coalesced((*(operand.view for operand in operands), stored))
    loads = tuple(zip(slots, views[:-1], strict=True))
    work = Work(first, node.size, loads, tuple((slot, views[-1]) for slot in range(len(targets))))
    body = _body(op, operands[0].node.dtype, node.dtype, len(operands), len(targets))
    return Kernel(node.device, _accesses(targets, sources), (), body, targets, sources, (work,))


def _join(node: Join) -> Iterator[Kernel]:
    target = Target(node, 0, node.size)
    width = str(FORMATS[node.dtype].itemsize)
    for batch in _batches(node):
        sources, slots = _slots([part.value.node for part in batch if part.value is not None])
        ahead, works = iter(slots), []
        for part in batch:
            read = () if part.value is None else (part.value.view,)
            views = coalesced((*read, part.at))
            loads = tuple((next(ahead), view) for view in views[:-1])
            works.append(Work(0, part.at.size, loads, ((0, views[-1]),)))
        body = Body("move", width, width, 1)
        yield Kernel(node.device, _accesses((target,), sources), (), body, (target,), sources, tuple(works))


def _batches(node: Join) -> Iterator[list[Part]]:
    """Yield the parts in runs that read at most ``SLOTS`` storages each."""
    batch: list[Part] = []
    seen: set[Node] = set()
    for part in node.parts:
        new = {part.value.node} - seen if part.value is not None else set()
        if len(seen) + len(new) > SLOTS:
            yield batch
            batch, seen = [], set(new)
        seen |= new
        batch.append(part)
    if batch:
        yield batch


def _slots(nodes: list[Node]) -> tuple[tuple[Node, ...], list[int]]:
    """Return the distinct nodes in order, and the place of each node among them."""
    places: dict[Node, int] = {}
    slots = [places.setdefault(node, len(places)) for node in nodes]
    return tuple(places), slots


def _body(op: str, source: str, target: str, operands: int, targets: int) -> Body:
    # One operand is never combined: its bits only move, unless the dtype changes on the way.
    if operands == 1 and source == target and targets == 1:
        width = str(FORMATS[source].itemsize)
        return Body("move", width, width, 1)
    if operands == 1 and source != target and targets == 1:
        return Body("cast", source, target, 1)
    return Body(op, source, target, 1 if targets == 1 else SLOTS)


def _accesses(targets: tuple[Target, ...], sources: tuple[Node, ...]) -> tuple[Access, ...]:
    found = [Access(node, 0, _bytes(node), write=False) for node in sources]
    for target in targets:
        width = FORMATS[target.node.dtype].itemsize
        start = target.first * width
        found.append(Access(target.node, start, start + target.size * width, write=True))
    return tuple(found)


def _bytes(node: Node) -> int:
    return node.size * FORMATS[node.dtype].itemsize
