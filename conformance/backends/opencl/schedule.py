"""Nodes become ordered items: uploads, copies, kernels and barriers, each with the byte ranges it reads and writes.

Only nodes that a result needs are scheduled, and blocks without elements never are. Items are ordered by
depth, so that devices work side by side; edges come from hazards over byte ranges, not from the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import msgspec

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.fuse import Filled, filled
from conformance.backends.opencl.graph import Buffer, Copy, Elementwise, Fill, Join, Movement, Node, Part, Reduce
from conformance.backends.opencl.hazards import Access, Hazards
from conformance.backends.opencl.order import reachable, staged
from conformance.backends.opencl.render import SLOTS, Body
from conformance.backends.opencl.view import View, coalesced, contiguous
from conformance.cases.program import Groups


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


class Constant(Item, frozen=True, eq=False):
    """The value of a ``Fill`` in every element of its storage."""

    node: Fill


class Barrier(Item, frozen=True, eq=False):
    """Nothing later on the device begins before the items it waits for are done."""


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


def schedule(
    results: tuple[Movement, ...],
    alignment: int,
    stages: Mapping[Node, int] = MappingProxyType({}),
    barriers: tuple[Groups, ...] = (),
) -> Schedule:
    """Return the schedule of the results; sub-buffers begin at multiples of ``alignment`` bytes.

    ``stages`` says after how many of the ``barriers`` a node comes; none where it says nothing.
    """
    order = staged(reachable(results), stages)
    fill = filled([node for node, _ in order], results, alignment)
    hazards = Hazards()
    items: list[Item] = []
    passed = 0
    for node, stage in order:
        for groups in barriers[passed:stage]:
            items.extend(_barriers(groups, items))
        passed = stage
        for item in _items(node, fill):
            items.append(msgspec.structs.replace(item, after=hazards.record(len(items), item.accesses)))
    return Schedule(tuple(items), tuple(node for node, _ in order if node not in fill.within))


def _barriers(groups: Groups, items: list[Item]) -> list[Item]:
    """Return for each member the item that waits for all that the members of its group have been given so far."""
    found: list[Item] = []
    for group in groups:
        before = tuple(number for number, item in enumerate(items) if item.device in group)
        found.extend(Barrier(device, (), before) for device in group)
    return found


def _items(node: Node, fill: Filled) -> Iterator[Item]:
    if isinstance(node, Buffer):
        yield Upload(node.device, (Access(node, 0, _bytes(node), write=True),), (), node)
    elif isinstance(node, Copy):
        width = FORMATS[node.dtype].itemsize
        start, size = node.start * width, node.size * width
        accesses = (Access(node.source, start, start + size, write=False), Access(node, 0, size, write=True))
        yield Transfer(node.device, accesses, (), node.source, node, start, size)
    elif isinstance(node, Fill):
        yield Constant(node.device, (Access(node, 0, _bytes(node), write=True),), (), node)
    elif isinstance(node, Elementwise):
        yield _moved(node)
    elif isinstance(node, Reduce):
        yield _folded(node, fill)
    elif isinstance(node, Join) and node not in fill.joins:
        yield from _join(node)


def _moved(node: Elementwise) -> Kernel:
    view, stored = coalesced((node.operand.view, contiguous(node.operand.view.shape)))
    target, sources = (Target(node, 0, node.size),), (node.operand.node,)
    width = str(FORMATS[node.dtype].itemsize)
    work = Work(0, node.size, ((0, view),), ((0, stored),))
    return Kernel(node.device, _accesses(target, sources), (), Body("move", width, width), target, sources, (work,))


def _folded(node: Reduce, fill: Filled) -> Kernel:
    targets = tuple(Target(*place) for place in fill.within.get(node, ((node, 0, node.size),)))
    sources, slots = _slots([operand.node for operand in node.operands])
    kept, within = zip(*(operand.view.split(node.local) for operand in node.operands), strict=True)
    # A kernel sees its targets from their own beginning, so element ``first`` is stored at 0.
    stored = contiguous(kept[0].shape).shifted(-node.first)
    views = coalesced((*kept, stored))
    loads = tuple(zip(slots, views[:-1], strict=True))
    stores = tuple((slot, views[-1]) for slot in range(len(targets)))
    mode, scalar = _mode(node)
    within = coalesced(within) if node.local else ()
    work = Work(node.first, node.size, loads, stores, within, mode, scalar)
    source = node.operands[0].node.dtype
    body = Body(node.op, source, node.accumulator, bool(within))
    # One operand is never combined: its bits only move, unless something is done to it on the way.
    if len(loads) == len(targets) == 1 and mode == "plain" and not within and source == node.accumulator:
        width = str(FORMATS[source].itemsize)
        body = Body("move", width, width)
    return Kernel(node.device, _accesses(targets, sources), (), body, targets, sources, (work,))


def _mode(node: Reduce) -> tuple[str, int]:
    if node.op.startswith("arg_"):
        return "position", 0
    if node.scale is not None:
        return "scale", node.scale
    if node.divisor is not None:
        return "divide", node.divisor
    return "plain", 0


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
        body = Body("move", width, width)
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


def _accesses(targets: tuple[Target, ...], sources: tuple[Node, ...]) -> tuple[Access, ...]:
    found = [Access(node, 0, _bytes(node), write=False) for node in sources]
    for target in targets:
        width = FORMATS[target.node.dtype].itemsize
        start = target.first * width
        found.append(Access(target.node, start, start + target.size * width, write=True))
    return tuple(found)


def _bytes(node: Node) -> int:
    return node.size * FORMATS[node.dtype].itemsize
