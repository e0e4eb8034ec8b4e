"""Local memory: what groups of points stage there, and the barrier that makes it seen; and calls of sequences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.extent import sizes
from conformance.cases.schedule.index_map import Indices, elements
from conformance.cases.schedule.kernel_body import Body, Fetch, Load, Store
from conformance.cases.schedule.schedule import Access, Call, Kernel, accesses
from conformance.cases.tensor.dtypes import NUMPY
from conformance.judging.schedules.clause import ScheduleClause
from conformance.reference.byte_ranges import overlap
from conformance.reference.schedule.facts import Facts
from conformance.specs.schedules.facts.subjects import some_buffer


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


def behind_a_barrier(facts: Facts) -> str | None:
    """Find an element of local memory that a point takes which another point of the same phase writes, or nobody yet.

    What a point itself stored before, in the same body, it may take in the same phase.
    """
    written: dict[tuple[int, str], dict[int, NDArray[np.bool_]]] = {}
    for number, leaf, body, each, found, valid in _staged(facts):
        if isinstance(each, Store):
            buffer = facts.buffers[leaf.accesses[each.access].buffer]
            phases = written.setdefault((number, buffer.id), {})
            mask = phases.setdefault(body.phase, np.zeros(buffer.size // NUMPY[buffer.dtype].itemsize + 1, np.bool_))
            mask[found[valid]] = True
    for number, leaf, body, each, found, valid in _staged(facts):
        if isinstance(each, Store):
            continue
        name = leaf.accesses[each.access].buffer
        phases = written.get((number, name), {})
        own = _own(facts, leaf, body, each)
        taken = found[valid & ~own] if own is not None else found[valid]
        for phase, mask in phases.items():
            if phase == body.phase and mask[taken].any():
                return f"{facts.name(number)} reads {name!r} in the phase in which other points write it"
        earlier = [mask for phase, mask in phases.items() if phase < body.phase]
        ready = np.logical_or.reduce(earlier) if earlier else np.zeros(1, np.bool_)
        if taken.size and not (ready[taken].all() if ready.size > 1 else False):
            return f"{facts.name(number)} reads of {name!r} what no earlier phase wrote"
    return None


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
    return None


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
        "A point reads from local memory only what was written in an earlier phase, behind a barrier, or by the "
        "point itself, and nothing that another point writes in the same phase.",
        "ours",
        behind_a_barrier,
        _has_local,
    ),
    ScheduleClause(
        "staging.C2",
        "A point reads and writes only the local memory of its own group.",
        "ours",
        own_group,
        _has_local,
    ),
    ScheduleClause(
        "staging.C3",
        "Local memory is used by one item only, which is a kernel.",
        "ours",
        of_one_kernel,
        _has_local,
    ),
    ScheduleClause(
        "replays.C1",
        "What an item that calls a captured sequence gives for a parameter that the sequence writes shares no byte "
        "with what it gives for another parameter.",
        "ours",
        apart_as_captured,
        _calls,
        requirement="may",
    ),
)
