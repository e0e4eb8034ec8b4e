"""Small kernels of several ranks on one device become one command: what they cost is the command, not the work.

Four ranks' kernels of 1 KiB took 49 to 66 us as commands on four queues, 12 us each of Python's time and the runtime's
(Intel's runtime, two quiet cores). The items of a schedule stay as they are: what is exported, explained and timed is
still an item a rank, and only what is enqueued is fewer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from conformance.backends.opencl.graph.node import Node
from conformance.backends.opencl.graph.view import View
from conformance.backends.opencl.render.kernels import SLOTS, WIDE, Body
from conformance.backends.opencl.schedule.item import Barrier, Item, Kernel, Region, Work
from conformance.backends.opencl.schedule.regions import Span
from conformance.backends.opencl.schedule.stream import moved, streamed
from conformance.backends.opencl.settings import Settings

Spans = Mapping[Node, tuple[Span, ...]]
"""The elements of each storage that are bound, in runs that do not touch each other."""


Slots = Mapping[Node, Sequence[tuple[int, int]]]
"""The slots of each storage, each with the first element that is bound there, in ascending order."""


class Enqueued(NamedTuple):
    """Items as they are enqueued, whose ``after`` count among themselves, and the one of each scheduled item."""

    items: tuple[Item, ...]
    of: tuple[int, ...]


def batched(items: Sequence[Item], place: Callable[[int], int], settings: Settings) -> Enqueued:
    """Return ``items``, those small kernels of one body joined that wait for nothing after the first of them.

    ``place`` says on which device the work of a rank is done. Joined ones stand where the first of them stood, and run
    on the queue of its rank.
    """
    batches: list[_Batch] = []
    of: list[int] = []
    barriers: dict[int, int] = {}
    begun = 0
    for item in items:
        after = {of[each] for each in item.after}
        if item.device in barriers:
            # A barrier holds the queue of its own rank alone.
            after.add(barriers[item.device])
        found = len(batches)
        if isinstance(item, Kernel) and settings.batch_below:
            later = range(max([begun, *(each + 1 for each in after)]), found)
            kind = _kind(item, place)
            found = next((n for n in later if batches[n].takes(item, kind, settings.batch_below)), found)
        if found == len(batches):
            batches.append(_Batch(item, place))
        batches[found].after |= after
        of.append(found)
        if isinstance(item, Barrier):
            barriers[item.device], begun = found, len(batches)
    return Enqueued(tuple(each.joined(settings) for each in batches), tuple(of))


class _Batch:
    """Items that are one command."""

    def __init__(self, first: Item, place: Callable[[int], int]) -> None:
        self.after: set[int] = set()
        self._first = first
        self._members = [first] if isinstance(first, Kernel) else []
        self._kind = _kind(first, place) if isinstance(first, Kernel) else None
        self._size = sum(map(_size, self._members))
        self._read = _with({}, (region for each in self._members for region in each.sources))
        self._written = _with({}, (region for each in self._members for region in each.targets))

    def takes(self, item: Kernel, kind: tuple[int, Body], below: int) -> bool:
        """Take a kernel of a ``kind`` in, and return whether it may be one of these."""
        if kind != self._kind:
            return False
        size = self._size + _size(item)
        if size >= below:
            return False
        read, written = _with(self._read, item.sources), _with(self._written, item.targets)
        if max(_count(read), _count(written)) > WIDE:
            return False
        self._members.append(item)
        self._size, self._read, self._written = size, read, written
        return True

    def joined(self, settings: Settings) -> Item:
        """Return the one item that they are."""
        after = tuple(sorted(self.after))
        if len(self._members) < 2:
            return msgspec.structs.replace(self._first, after=after)
        sources, targets = tuple(_regions(self._read)), tuple(_regions(self._written))
        slots = SLOTS if max(len(sources), len(targets)) <= SLOTS else WIDE
        body = _streaming(self._members, settings)
        # What folds elements one by one takes as many storages to write as to read in any case.
        joint = body.stream is not None or body.operation == "move"
        places = _slots(sources), _slots(targets)
        works = tuple(_bound(work, each, *places) for each in self._members for work in each.works)
        accesses = (*(each.access(write=False) for each in sources), *(each.access(write=True) for each in targets))
        body = body._replace(slots=slots, joint=joint)
        return Kernel(self._first.device, accesses, after, body, targets, sources, works)


def _kind(item: Kernel, place: Callable[[int], int]) -> tuple[int, Body]:
    """Return what kernels of one command share: where the work is done, and the body but for its slots."""
    return place(item.device), item.body._replace(slots=SLOTS)


def _size(item: Kernel) -> int:
    return sum(region.size for region in (*item.sources, *item.targets))


def _with(spans: Spans, regions: Iterable[Region]) -> Spans:
    """Return the spans and those of the regions, joined where they touch."""
    found = dict(spans)
    for region in regions:
        start, stop = region.first, region.first + region.size
        apart = []
        for low, high in found.get(region.node, ()):
            if high < start or stop < low:
                apart.append((low, high))
            else:
                start, stop = min(start, low), max(stop, high)
        found[region.node] = (*apart, (start, stop))
    return found


def _count(spans: Spans) -> int:
    return sum(map(len, spans.values()))


def _regions(spans: Spans) -> Iterator[Region]:
    return (Region(node, start, stop - start) for node, found in spans.items() for start, stop in sorted(found))


def _slots(regions: Iterable[Region]) -> Slots:
    found: dict[Node, list[tuple[int, int]]] = {}
    for slot, region in enumerate(regions):
        found.setdefault(region.node, []).append((slot, region.first))
    return found


def _streaming(members: Sequence[Kernel], settings: Settings) -> Body:
    """Return the body of kernels that are one: a streaming one where their runs are long enough together."""
    (body, *_), works = (each.body for each in members), [work for each in members for work in each.works]
    if body.stream is not None or sum(work.size for work in works) < settings.stream_from:
        return body
    if body.operation == "move":
        return moved(body, tuple(works), settings)
    found = {streamed(body, work, dataclasses.replace(settings, stream_from=1)) for work in works}
    return found.pop() if len(found) == 1 else body


def _bound(work: Work, item: Kernel, sources: Slots, targets: Slots) -> Work:
    """Return a part of a kernel with the slots of the joined one."""
    loads = tuple(_lying(item.sources[slot], view, sources) for slot, view in work.loads)
    stores = tuple(_lying(item.targets[slot], view, targets) for slot, view in work.stores)
    return msgspec.structs.replace(work, loads=loads, stores=stores)


def _lying(region: Region, view: View, slots: Slots) -> tuple[int, View]:
    """Return the slot of what holds a region, and the view that was one of it."""
    slot, first = max(found for found in slots[region.node] if found[1] <= region.first)
    return slot, view.shifted(region.first - first)
