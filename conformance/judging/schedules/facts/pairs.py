"""Two kernels with a value between them that nobody else sees: what could be one kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from conformance.cases.graph.graph import MOVEMENT, Node
from conformance.cases.schedule.index_map import once
from conformance.cases.schedule.kernel_body import Fetch, Load, Reduce
from conformance.cases.schedule.schedule import Kernel
from conformance.cases.tensor.dtypes import NUMPY
from conformance.judging.schedules.facts.labels import Written, said
from conformance.reference.byte_ranges import overlap
from conformance.reference.schedule.facts import Facts, Touch

BARRIERS = ("contig", "copy", "assign", "all_reduce", "collective", "call", "item")
"""Nodes whose value is to be in a buffer, or is made by others than kernels."""


@dataclass(frozen=True)
class Between:
    """A value that leaf ``maker`` writes and leaf ``taker`` alone reads, each element of it once."""

    node: Node
    maker: int
    taker: int
    written: Touch
    read: Touch


def between(facts: Facts) -> Iterator[Between]:
    """Yield the values that go from one kernel to one other and that the two could do without.

    Left out is what is asked for, what a barrier takes, what is made or taken by more than one kernel, or by one that
    makes more, what is taken more often than it has elements, and what the kernels could not do as one: between them
    somebody writes what the first reads, or the second does at another point, or they would have more buffers than the
    device takes.
    """
    return (each for each, told in _pairs(facts) if told)


def perhaps_between(facts: Facts) -> Iterator[Between]:
    """Yield the values that may be such, of which nothing tells, for a kernel has no body."""
    return (each for each, told in _pairs(facts) if told is None)


def _pairs(facts: Facts) -> Iterator[tuple[Between, bool | None]]:
    graph = facts.schedule.graph
    asked = {*(graph.results if graph else ()), *(place.node for place in facts.schedule.places)}
    kept = {facts.home(place.buffer) for place in facts.schedule.places}
    for name, written in said(facts).items():
        made = _makers(facts, written)
        if len(made) != 1 or name in asked or _behind_barrier(facts, name):
            continue
        ((maker, touch),) = made
        home = facts.home(touch.access.buffer)
        takers = [
            (number, read)
            for number, own in enumerate(facts.touches)
            for read in own
            if number != maker and facts.home(read.access.buffer) == home
        ]
        if len(takers) != 1 or home in kept or _seen(facts, home):
            continue
        ((taker, read),) = takers
        yield Between(facts.nodes[name], maker, taker, touch, read), _joined(facts, maker, taker, touch, read)


def _makers(facts: Facts, written: list[Written]) -> list[Written]:
    """Return who makes a value of those that write it: who reads it where another one wrote it only takes it on."""
    first: dict[str, int] = {}
    for number, touch in written if len(written) > 1 else ():
        first.setdefault(facts.home(touch.access.buffer), number)
    return [
        (number, touch)
        for number, touch in written
        if not any(
            not read.write and first.get(facts.home(read.access.buffer), number) < number
            for read in facts.touches[number]
        )
    ]


def _seen(facts: Facts, buffer: str) -> bool:
    found = facts.buffers[buffer]
    return found.preexisting or found.held or found.output


def _behind_barrier(facts: Facts, name: str) -> bool:
    """Return whether a value, or movement of it, is taken by a barrier, or is one."""
    if facts.nodes[name].op in BARRIERS:
        return True
    moved = {name}
    for node in facts.nodes.values():
        if moved.intersection(node.of):
            if node.op in BARRIERS:
                return True
            if node.op in MOVEMENT:
                moved.add(node.id)
    return False


def _joined(facts: Facts, maker: int, taker: int, written: Touch, read: Touch) -> bool | None:
    """Return whether two leaves are kernels that could be one, ``None`` where that is not known for want of a body."""
    one, other = facts.leaves[maker], facts.leaves[taker]
    if not isinstance(one, Kernel) or not isinstance(other, Kernel) or one.device != other.device or taker < maker:
        return False
    if facts.owned[maker][1] or facts.owned[taker][1]:
        return False
    if read.write or sum(touch.write for touch in facts.touches[maker]) != 1 or not _taken_once(facts, taker, read):
        return False
    if not np.array_equal(read.ranges, written.ranges):
        return False
    for touch in facts.touches[maker]:
        for number in range(maker + 1, taker + 1):
            for later in facts.touches[number]:
                if later.write and later.root == touch.root and overlap(later.ranges, touch.ranges):
                    return False
    most = facts.schedule.devices[one.device].most_buffers
    used = {facts.home(each.access.buffer) for number in (maker, taker) for each in facts.touches[number]}
    known = True if one.bodies and other.bodies else None
    return known if not most or len(used) <= most else False


def _taken_once(facts: Facts, number: int, read: Touch) -> bool:
    """Return whether a kernel loads each element of an access once, in one body; or may, where it has none."""
    leaf = facts.leaves[number]
    if not isinstance(leaf, Kernel) or not leaf.bodies:
        return read.access.map is None or once_each(facts, number, read)
    return once_each(facts, number, read) and _in_one_body(leaf, read)


def _in_one_body(leaf: Kernel, read: Touch) -> bool:
    """Return whether one body of a kernel alone loads an access."""
    loads = [{e.access for e in body.instructions if isinstance(e, Load | Fetch)} for body in leaf.bodies]
    return sum(any(leaf.accesses[at] is read.access for at in own) for own in loads) == 1


def once_each(facts: Facts, number: int, touch: Touch) -> bool:
    """Return whether a leaf touches each element of an access at one point only."""
    if touch.access.map is None:
        return False
    found, valid = facts.elements(touch.access, facts.bound(facts.leaves[number]))
    width = NUMPY[facts.buffers[touch.access.buffer].dtype].itemsize
    elements = int((touch.ranges[:, 1] - touch.ranges[:, 0]).sum()) // width
    return bool(once(valid).all()) and found.size == elements


def reduces(facts: Facts, number: int) -> bool:
    """Return whether a kernel reduces anything."""
    leaf = facts.leaves[number]
    bodies = leaf.bodies if isinstance(leaf, Kernel) else ()
    return any(isinstance(each, Reduce) for body in bodies for each in body.instructions)
