"""A node becomes the items that compute it, each bound to the regions it reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import (
    Computed,
    Copy,
    Elementwise,
    Fill,
    Join,
    Launch,
    Movement,
    Node,
    Part,
    Reduce,
    Write,
)
from conformance.backends.opencl.graph.view import coalesced, contiguous
from conformance.backends.opencl.render.kernels import SLOTS, WIDE, Body
from conformance.backends.opencl.render.point import storages
from conformance.backends.opencl.schedule.dead_stores import without_dead_stores
from conformance.backends.opencl.schedule.elision.joins import Filled
from conformance.backends.opencl.schedule.elision.multicast import Multicasts, multicast
from conformance.backends.opencl.schedule.item import Constant, Fused, Item, Kernel, Region, Transfer, Work
from conformance.backends.opencl.schedule.regions import reach, region, regions
from conformance.backends.opencl.schedule.stream import moved, streamed
from conformance.backends.opencl.schedule.stream import runs as are_runs
from conformance.backends.opencl.settings import Settings

Stores = Mapping[Launch, Sequence[Computed]]
"""For each launch the nodes that it stores, in the order of its stores."""


def itemise(
    node: Node, fill: Filled, shared: Multicasts, alignment: int, settings: Settings, stores: Stores
) -> Iterator[Item]:
    """Yield the items of a node, without edges; nothing for a storage that exists before, or that others fill."""
    if isinstance(node, Copy):
        span = node.start, node.start + node.size
        yield _transfer(node, node.source, span, 0, alignment)
    elif isinstance(node, Fill):
        yield Constant(node.device, (Region(node, 0, node.size).access(write=True),), (), node)
    elif isinstance(node, Elementwise):
        part = Part(contiguous(node.operand.view.shape), node.operand)
        yield from _joined(node, (part,), alignment, settings)
    elif isinstance(node, Write):
        yield from _joined(node, (Part(node.at, node.value),), alignment, settings)
    elif isinstance(node, Reduce):
        yield _folded(node, fill, alignment, settings)
    elif isinstance(node, Computed) and node is stores[node.launch][0]:
        yield _fused(node, stores[node.launch])
    elif isinstance(node, Join) and node not in fill.joins:
        for part in node.parts:
            if shared.get(part):
                yield multicast(part, shared[part], alignment)
        own = tuple(part for part in node.parts if part not in shared)
        yield from _joined(node, own, alignment, settings)


def _fused(node: Computed, stored: Sequence[Computed]) -> Fused:
    launch = without_dead_stores(node.launch, [each.number for each in stored])
    sources = tuple(Region(read, 0, read.size) for read in storages(launch))
    targets = tuple(Region(each, 0, each.size) for each in stored)
    reads = tuple(each.access(write=False) for each in sources)
    accesses = (*reads, *(each.access(write=True) for each in targets))
    return Fused(node.device, accesses, (), launch, sources, targets)


def _transfer(node: Node, source: Node, span: tuple[int, int], at: int, alignment: int) -> Transfer:
    """Return the copy of elements ``span`` of ``source`` to element ``at`` of ``node``."""
    width = FORMATS[node.dtype].itemsize
    size = span[1] - span[0]
    read, written = region(source, span, alignment), region(node, (at, at + size), alignment)
    accesses = read.access(write=False), written.access(write=True)
    start, place = (span[0] - read.first) * width, (at - written.first) * width
    return Transfer(node.device, accesses, (), read, written, start, place, size * width)


def _folded(node: Reduce, fill: Filled, alignment: int, settings: Settings) -> Kernel:
    targets = tuple(Region(*place) for place in fill.within.get(node, ((node, 0, node.size),)))
    bound = regions(((operand.node, _read(node, operand)) for operand in node.operands), alignment)
    slots = {source: slot for slot, source in enumerate(bound)}
    kept, within = zip(*(operand.view.split(node.local) for operand in node.operands), strict=True)
    kept = tuple(view.shifted(-bound[operand.node].first) for view, operand in zip(kept, node.operands, strict=True))
    # A kernel sees its targets from their own beginning, so element ``first`` is stored at 0.
    stored = contiguous(kept[0].shape).shifted(-node.first)
    views = coalesced((*kept, stored))
    loads = tuple((slots[operand.node], view) for operand, view in zip(node.operands, views[:-1], strict=True))
    stores = tuple((slot, views[-1]) for slot in range(len(targets)))
    mode, scalar = _mode(node)
    within = coalesced(within) if node.local else ()
    work = Work(node.first, node.size, loads, stores, within, mode, scalar)
    source = node.operands[0].node.dtype
    wide = SLOTS if max(len(bound), len(targets)) <= SLOTS else WIDE
    body = Body(node.op, source, node.accumulator, bool(within), slots=wide)
    # One operand is never combined: its bits only move, unless something is done to it on the way.
    if len(loads) == len(targets) == 1 and mode == "plain" and not within and source == node.accumulator:
        body = _move(node)
    return _kernel(node.device, streamed(body, work, settings), targets, tuple(bound.values()), (work,))


def _read(node: Reduce, operand: Movement) -> tuple[int, int]:
    return operand.view.span if node.local else reach(operand.view, node.first, node.size)


def _mode(node: Reduce) -> tuple[str, int]:
    if node.op.startswith("arg_"):
        return "position", 0
    if node.scale is not None:
        return "scale", node.scale
    if node.divisor is not None:
        return "divide", node.divisor
    return "plain", 0


def _joined(node: Node, parts: tuple[Part, ...], alignment: int, settings: Settings) -> Iterator[Item]:
    """Yield the kernels that write the parts: runs of bytes or not, for the former move faster alone."""
    runs: list[Part] = []
    rest: list[Part] = []
    for part in parts:
        (runs if _is_run(part) else rest).append(part)
    if sum(part.at.size for part in runs) < settings.stream_from:
        runs, rest = [], list(parts)
    for batch in (*_batches(runs), *_batches(rest)):
        yield _gathered(node, batch, alignment, settings)


def _is_run(part: Part) -> bool:
    return part.value is not None and are_runs(coalesced((part.value.view, part.at)))


def _gathered(node: Node, batch: Sequence[Part], alignment: int, settings: Settings) -> Kernel:
    """Return one kernel that writes several parts."""
    target = region(node, _hull([part.at.span for part in batch]), alignment)
    read = [part.value for part in batch if part.value is not None]
    bound = regions(((value.node, value.view.span) for value in read), alignment)
    slots = {source: slot for slot, source in enumerate(bound)}
    works = []
    for part in batch:
        taken = () if part.value is None else (part.value.view.shifted(-bound[part.value.node].first),)
        views = coalesced((*taken, part.at.shifted(-target.first)))
        loads = () if part.value is None else ((slots[part.value.node], views[0]),)
        works.append(Work(0, part.at.size, loads, ((0, views[-1]),)))
    body = moved(_move(node), tuple(works), settings)
    return _kernel(node.device, body, (target,), tuple(bound.values()), tuple(works))


def _hull(spans: list[tuple[int, int]]) -> tuple[int, int]:
    return min(start for start, _ in spans), max(stop for _, stop in spans)


def _batches(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Yield the parts in runs that read at most ``SLOTS`` storages each."""
    batch: list[Part] = []
    seen: set[Node] = set()
    for part in parts:
        new = {part.value.node} - seen if part.value is not None else set()
        if len(seen) + len(new) > SLOTS:
            yield batch
            batch, seen = [], set(new)
        seen |= new
        batch.append(part)
    if batch:
        yield batch


def _move(node: Node) -> Body:
    width = str(FORMATS[node.dtype].itemsize)
    return Body("move", width, width)


def _kernel(
    device: int, body: Body, targets: tuple[Region, ...], sources: tuple[Region, ...], works: tuple[Work, ...]
) -> Kernel:
    accesses = (
        *(source.access(write=False) for source in sources),
        *(target.access(write=True) for target in targets),
    )
    return Kernel(device, accesses, (), body, targets, sources, works)
