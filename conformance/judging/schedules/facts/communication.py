"""What collectives are given and where it lies: operands, buffers of a communicator, and lasting allocations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.extent import sizes
from conformance.cases.schedule.index_map import strides_of
from conformance.cases.schedule.schedule import Access, Collective, Kernel, accesses
from conformance.cases.tensor.dtypes import NUMPY
from conformance.judging.schedules.facts.kernels import moved
from conformance.reference.byte_ranges import NOTHING, joined, size
from conformance.reference.schedule.facts import Facts


@dataclass(frozen=True)
class Location:
    """Where a buffer lies: the lasting ``allocation``, empty if nobody says, and the bytes of it."""

    allocation: str
    offset: int
    size: int


def collectives(facts: Facts) -> tuple[Collective, ...]:
    """Return the collectives in order."""
    return tuple(item for item in facts.schedule.items if isinstance(item, Collective))


def chain(facts: Facts, name: str) -> Iterator[Buffer]:
    """Yield a buffer and what it is a part of, the storage last."""
    at: str | None = name
    while at is not None:
        yield facts.buffers[at]
        at = facts.buffers[at].base


def belonging(facts: Facts, name: str) -> Buffer | None:
    """Return the buffer of a communicator that a buffer is or lies in, if it does."""
    return next((each for each in chain(facts, name) if each.communication), None)


def location(facts: Facts, name: str) -> Location:
    """Return where a buffer lies."""
    root, offset = facts.root(name)
    return Location(facts.buffers[root].allocation, offset, facts.buffers[name].size)


def shared(facts: Facts, item: Collective) -> tuple[tuple[str, ...], ...]:
    """Return the buffers of its communicator that each participant brings to a collective, in a common order.

    The order is that of the accesses of one call; of parts it is that in which buffers are declared.
    """
    used = dict.fromkeys(access.buffer for access in accesses(item))
    if item.parts:
        used = dict.fromkeys(each for each in facts.buffers if each in used)
    own = [name for name in used if belonging(facts, name) is not None]
    return tuple(tuple(name for name in own if facts.buffers[name].device == each) for each in item.participants)


def _located(facts: Facts, item: Collective) -> dict[str, tuple[Location, ...]]:
    """Return where the buffers of its communicator lie that each participant brings."""
    return {
        device: tuple(location(facts, each) for each in names)
        for device, names in zip(item.participants, shared(facts, item), strict=True)
    }


def allocated(facts: Facts, item: Collective) -> dict[str, tuple[Location, ...]]:
    """Return where the buffers of its communicator lie that each participant brings, where all of it is known."""
    found = _located(facts, item)
    whole = all(each.allocation for places in found.values() for each in places)
    return found if whole and any(found.values()) else {}


def partly_allocated(facts: Facts, item: Collective) -> bool:
    """Return whether some of the buffers of its communicator lie in lasting memory, and nothing is known of others."""
    known = {bool(each.allocation) for places in _located(facts, item).values() for each in places}
    return len(known) > 1


def operands(item: Collective) -> tuple[str, ...]:
    """Return the buffers that a collective reads before it writes them."""
    found: dict[str, None] = {}
    written: set[str] = set()
    for part in item.parts or (item,):
        found.update((each.buffer, None) for each in part.accesses if not each.write and each.buffer not in written)
        written |= {each.buffer for each in part.accesses if each.write}
    return tuple(found)


def pieces(facts: Facts) -> dict[str, int]:
    """Return of how many pieces the call of each collective is."""
    count: dict[str, int] = {}
    for item in collectives(facts):
        if item.call:
            count[item.call] = count.get(item.call, 0) + 1
    return {item.id: count.get(item.call, 1) for item in collectives(facts)}


def operand_bytes(facts: Facts, item: Collective) -> tuple[int, ...]:
    """Return the bytes of each operand: of an opaque collective what it reads, else what its parts read of it."""
    own = [each for part in item.parts or (item,) for each in part.accesses if not each.write]
    return tuple(_read_bytes(facts, [each for each in own if each.buffer == name]) for name in operands(item))


def computed(facts: Facts, item: Collective) -> bool:
    """Return whether kernels compute every operand of a collective, of more than what is given or what a call gives.

    Such a value can be computed into a buffer of a communicator. An input cannot, nor can what a call gives, moved or
    not.
    """
    before = next(n for n, (leaf, owner) in enumerate(facts.owned) if item in (leaf, owner))
    return all(_computed(facts, name, before) for name in operands(item)) and bool(operands(item))


def _computed(facts: Facts, name: str, before: int) -> bool:
    home = facts.home(name)
    writers = [
        leaf
        for leaf in facts.leaves[:before]
        if any(each.write and facts.home(each.buffer) == home for each in accesses(leaf))
    ]
    own = facts.buffers[home]
    return (
        bool(writers)
        and not (facts.is_given(home) or own.held)
        and all(isinstance(each, Kernel) and each.bodies and _computes(facts, each, before) for each in writers)
    )


def _computes(facts: Facts, leaf: Kernel, before: int) -> bool:
    """Return whether a kernel computes values, or moves ones that were computed."""
    written = [n for n in range(before) if facts.leaves[n] is leaf]
    return all(
        facts.home(read.buffer) != facts.home(write.buffer) and _computed(facts, read.buffer, written[0])
        for read, write in moved(leaf)
    )


def layout(facts: Facts, access: Access) -> tuple[tuple[int, int], ...] | None:
    """Return extent and stride of each axis of an access that has several elements.

    It is empty of all of a buffer, and ``None`` where bytes are listed or a map has several parts.
    """
    if access.map is None:
        return () if access.ranges is None else None
    if len(access.map) != 1 or access.map[0].mask is not None:
        return None
    (affine,) = access.map
    extents = sizes(affine.extents, facts.values)
    pairs = zip(extents, strides_of(affine, facts.values), strict=True)
    return tuple((extent, stride) for extent, stride in pairs if extent != 1)


def dense(pairs: tuple[tuple[int, int], ...]) -> bool:
    """Return whether elements of these extents and strides lie without gaps, each at a place of its own."""
    length = 1
    for stride, extent in sorted((stride, extent) for extent, stride in pairs):
        if stride != length:
            return False
        length *= extent
    return True


def row_major(pairs: tuple[tuple[int, int], ...]) -> bool:
    """Return whether elements of these extents and strides follow each other in row-major order."""
    return dense(pairs) and [stride for _, stride in pairs] == sorted((s for _, s in pairs), reverse=True)


def _read_bytes(facts: Facts, reads: Sequence[Access]) -> int:
    """Return the bytes of a block that is read at once, be it one element again and again, or of what is read of it."""
    if len(reads) == 1 and reads[0].map is not None:
        points = math.prod(sizes(reads[0].map[0].extents, facts.values))
        return points * NUMPY[facts.buffers[reads[0].buffer].dtype].itemsize
    found = NOTHING
    for each in reads:
        found = joined(found, facts.touch(each).ranges)
    return size(found)
