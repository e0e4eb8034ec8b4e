"""Local memory: what groups of points stage there, and the barrier that makes it seen; and calls of sequences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.extent import sizes
from conformance.cases.schedule.index_map import Indices, elements
from conformance.cases.schedule.kernel_body import Body, Fetch, Load, Store
from conformance.cases.schedule.schedule import Access, Call, Kernel, accesses
from conformance.cases.tensor.dtypes import NUMPY
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import ScheduleClause
from conformance.judging.schedules.facts.subjects import some_buffer
from conformance.reference.byte_ranges import overlap
from conformance.reference.schedule.facts import Facts


def _local(facts: Facts, access: Access) -> bool:
    return facts.buffers[access.buffer].local


def _staged(facts: Facts) -> Iterator[tuple[int, Kernel, Body, Load | Fetch | Store, Indices, NDArray[np.bool_]]]:
    """Yield what bodies do to local memory: kernel, body, instruction, its elements, and which are there.

    An element outside the buffer is not there: that it is named is the business of other clauses.
    """
    for number, leaf in enumerate(facts.leaves):
        for body in leaf.bodies if isinstance(leaf, Kernel) else ():
            assert isinstance(leaf, Kernel)
            for each in body.instructions:
                if isinstance(each, Load | Fetch | Store) and _local(facts, leaf.accesses[each.access]):
                    access = leaf.accesses[each.access]
                    assert access.map is not None
                    found, valid = elements(access.map, facts.bound(leaf))
                    buffer = facts.buffers[access.buffer]
                    there = (found >= 0) & (found < buffer.size // NUMPY[buffer.dtype].itemsize)
                    yield number, leaf, body, each, found, valid & there


@dataclass(frozen=True)
class _Stored:
    """What a store of a body does to local memory: ``first`` and ``last`` are, by element, the points that write it.

    Points are numbered in the order of the body's extents; those that differ only along ``ignored`` axes, on which the
    place does not depend, are one. Of an element that no point writes ``last`` is -1.
    """

    body: Body
    ignored: tuple[int, ...]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def by_others(self, body: Body, each: Load | Fetch, found: Indices, valid: NDArray[np.bool_]) -> bool:
        """Return whether a point takes an element that a point other than itself writes."""
        touched = self.last[found] >= 0
        if body is self.body and isinstance(each, Load):
            me = _points(found.shape, self.ignored)
            touched = touched & ((self.first[found] != me) | (self.last[found] != me))
        return bool((touched & valid).any())


def behind_a_barrier(facts: Facts) -> str | None:
    """Find an element of local memory that a point takes which another point of the same phase writes, or nobody yet.

    What a point itself stored before, in the same body, it may take in the same phase.
    """
    written: dict[tuple[int, str], list[_Stored]] = {}
    for number, leaf, body, each, found, valid in _staged(facts):
        if isinstance(each, Store):
            buffer = facts.buffers[leaf.accesses[each.access].buffer]
            count = buffer.size // NUMPY[buffer.dtype].itemsize
            written.setdefault((number, buffer.id), []).append(_stored(body, count, found, valid))
    for number, leaf, body, each, found, valid in _staged(facts):
        if isinstance(each, Store):
            continue
        name = leaf.accesses[each.access].buffer
        stores = written.get((number, name), [])
        inside = np.where(valid, found, 0)
        if any(one.body.phase == body.phase and one.by_others(body, each, inside, valid) for one in stores):
            return f"{facts.name(number)} reads {name!r} in the phase in which other points write it"
        own = _own(facts, leaf, body, each)
        taken = found[valid & ~own] if own is not None else found[valid]
        earlier = [one.last[taken] >= 0 for one in stores if one.body.phase < body.phase]
        if taken.size and not (earlier and np.logical_or.reduce(earlier).all()):
            return f"{facts.name(number)} reads of {name!r} what no earlier phase wrote"
    return SILENT if _unstaged(facts) else None


def _stored(body: Body, count: int, found: Indices, valid: NDArray[np.bool_]) -> _Stored:
    ignored = tuple(
        axis
        for axis in range(found.ndim)
        if all(bool((each == each.take([0], axis)).all()) for each in (found, valid) if each.size)
    )
    first, last = np.full(count + 1, np.iinfo(np.int64).max), np.full(count + 1, -1)
    points = np.broadcast_to(_points(found.shape, ignored), found.shape)[valid]
    np.minimum.at(first, found[valid], points)
    np.maximum.at(last, found[valid], points)
    return _Stored(body, ignored, first, last)


def _points(shape: tuple[int, ...], ignored: tuple[int, ...]) -> Indices:
    """Return the numbers of the points of a shape, those that differ only along ignored axes alike."""
    told = tuple(1 if axis in ignored else extent for axis, extent in enumerate(shape))
    return np.arange(math.prod(told)).reshape(told)


def _own(facts: Facts, leaf: Kernel, body: Body, each: Load | Fetch) -> NDArray[np.bool_] | None:
    """Return at which points a load takes what the same point stored before it in the same body."""
    if isinstance(each, Fetch):
        return None
    at, buffer = body.instructions.index(each), leaf.accesses[each.access].buffer
    read, _ = facts.elements(leaf.accesses[each.access], facts.bound(leaf))
    found = np.zeros(read.shape, np.bool_)
    for earlier in body.instructions[:at]:
        if isinstance(earlier, Store) and leaf.accesses[earlier.access].buffer == buffer:
            there, shown = facts.elements(leaf.accesses[earlier.access], facts.bound(leaf))
            found |= (there == read) & shown
    return found


def own_group(facts: Facts) -> str | None:
    """Find a point that touches the local memory of another group than its own."""
    for number, leaf, body, each, found, valid in _staged(facts):
        shape = sizes(body.extents, facts.bound(leaf))
        groups = math.prod(shape[: body.groups])
        buffer = facts.buffers[leaf.accesses[each.access].buffer]
        count = buffer.size // NUMPY[buffer.dtype].itemsize
        each_has = count // groups if groups else 0
        mine = np.arange(groups).reshape(shape[: body.groups] + (1,) * (found.ndim - body.groups))
        if groups and (each_has == 0 or (valid & (found // max(each_has, 1) != mine)).any()):
            return f"{facts.name(number)} touches {buffer.id!r} of another group of points"
    return SILENT if _unstaged(facts) else None


def _unstaged(facts: Facts) -> bool:
    """Return whether some kernel uses local memory of which nothing tells how: it has no body."""
    return any(
        isinstance(leaf, Kernel) and not leaf.bodies and any(_local(facts, access) for access in leaf.accesses)
        for leaf in facts.leaves
    )


def of_one_kernel(facts: Facts) -> str | None:
    """Find local memory that two items use, or one that is no kernel."""
    users: dict[str, int] = {}
    for number, leaf in enumerate(facts.leaves):
        for access in accesses(leaf):
            if _local(facts, access):
                first = users.setdefault(access.buffer, number)
                if first != number or not isinstance(leaf, Kernel):
                    return f"{facts.name(number)} uses {access.buffer!r}, local memory of {facts.name(first)}"
    return None


def _has_local(facts: Facts) -> bool:
    return some_buffer(lambda each: each.local)(facts)


def apart_as_captured(facts: Facts) -> str | None:
    """Find a call that is given the same bytes for two parameters, of which its sequence writes one."""
    captured = facts.captured
    for item in captured.items if captured is not None else ():
        if not isinstance(item, Call) or captured is None:
            continue
        sequence = captured.sequences[item.sequence]
        names = [buffer.id for buffer in sequence.buffers[: sequence.parameters]]
        base = {buffer.id: buffer.base for buffer in sequence.buffers}
        written = {_root(a.buffer, base) for each in sequence.items for a in accesses(each) if a.write}
        touched = [facts.touch(Access(buffer=name)) for name in item.buffers]
        for one, first in enumerate(touched):
            for other in range(one):
                second = touched[other]
                shared = first.root == second.root and overlap(first.ranges, second.ranges)
                if shared and {names[one], names[other]} & written:
                    return (
                        f"item {item.id!r} gives {item.buffers[one]!r} and {item.buffers[other]!r}, which share bytes, "
                        f"for {names[one]!r} and {names[other]!r}, of which one is written"
                    )
    return None


def _root(name: str, base: Mapping[str, str | None]) -> str:
    """Return the buffer that a view shows in the end."""
    while (of := base[name]) is not None:
        name = of
    return name


def _calls(facts: Facts) -> bool:
    return facts.captured is not None and any(isinstance(item, Call) for item in facts.captured.items)


STAGING = (
    ScheduleClause(
        "staging.C1",
        "A point of a kernel reads from local memory only elements that an earlier phase wrote, or that the point "
        "itself stored before in the same body, at places known without data. No other point writes such an element "
        "in the phase of the read; the point itself can.",
        "ours",
        behind_a_barrier,
        _has_local,
    ),
    ScheduleClause(
        "staging.C2",
        "Where the leading axes of a body number groups of points, a local buffer is cut into equal runs of "
        "consecutive elements, one for each group in row-major order. A point reads and writes only the run of its "
        "own group.",
        "ours",
        own_group,
        _has_local,
    ),
    ScheduleClause(
        "staging.C3",
        "Each buffer of local memory is used by one item only, which is a kernel.",
        "ours",
        of_one_kernel,
        _has_local,
    ),
    ScheduleClause(
        "replays.C1",
        "An item that calls a captured sequence gives, for a parameter that the sequence writes, a buffer that "
        "shares no byte with what the item gives for another parameter.",
        "ours",
        apart_as_captured,
        _calls,
        requirement="may",
    ),
)
