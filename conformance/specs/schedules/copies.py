"""Copies between devices: what they are, how many bytes they move, and which may not be left out."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

import numpy as np

from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Node
from conformance.cases.schedule.opaque_form import readers
from conformance.cases.schedule.schedule import Access, Collective, Copy, Item, Kernel
from conformance.cases.schedule_error import ScheduleError
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import ScheduleClause
from conformance.judging.schedules.facts.algorithms import (
    bytes_of,
    copies,
    ends,
    measured,
    remote_bytes,
    ring_copies,
    ring_edges,
)
from conformance.judging.schedules.facts.calls import calls_fit
from conformance.judging.schedules.facts.free_nodes import of_constant
from conformance.judging.schedules.facts.kernels import moves_only
from conformance.judging.schedules.facts.labels import labels_of
from conformance.judging.schedules.facts.subjects import some_leaf
from conformance.reference.byte_ranges import overlap, size, without
from conformance.reference.operations import TABLE
from conformance.reference.schedule.execute import fixed
from conformance.reference.schedule.facts import Facts, Touch


def one_and_one(facts: Facts) -> str | None:
    """Find a copy that has not one source and one target."""
    for number, leaf in enumerate(facts.leaves):
        if isinstance(leaf, Copy) and sorted(access.write for access in leaf.accesses) != [False, True]:
            count = sum(access.write for access in leaf.accesses)
            return f"{facts.name(number)} is a copy with {len(leaf.accesses) - count} sources and {count} targets"
    return None


def between_devices(facts: Facts) -> str | None:
    """Find a copy from a device to itself, unless it is one that the graph forces, and moves all of its value."""
    told = True
    for number, leaf, read, written in copies(facts):
        source, target = ends(facts, read, written)
        if source != target:
            continue
        said = (written.access.node,) if written.access.node is not None else leaf.provenance
        forced = [node for node in facts.nodes.values() if _forced_to_stay(facts, node) and node.device == target]
        made = [node for node in forced if bytes_of(facts, node) == size(written.ranges)]
        if not any(node.id in said for node in made):
            if said or not made:
                return f"{facts.name(number)} copies from {source} to itself"
            # A copy that says nothing may be one that is forced.
            told = False
    return None if told else SILENT


def _forced_to_stay(facts: Facts, node: Node) -> bool:
    return node.op == "copy" and node.arg is True and _stays(facts, node)


def _stays(facts: Facts, node: Node) -> bool:
    return facts.nodes[node.of[0]].device == node.device


def equal_bytes(facts: Facts) -> str | None:
    """Find a copy that writes more or fewer bytes than it reads."""
    for number, _, read, written in copies(facts):
        if size(read.ranges) != size(written.ranges):
            return f"{facts.name(number)} reads {size(read.ranges)} bytes and writes {size(written.ranges)}"
    return None


def contiguous_source(facts: Facts) -> str | None:
    """Find a copy of bytes that do not lie side by side, or that changes their order."""
    for number, leaf, read, written in copies(facts):
        if len(read.ranges) > 1:
            return f"{facts.name(number)} copies {len(read.ranges)} separate pieces of {read.access.buffer!r}"
        for touch in (read, written):
            if not _rising(facts, leaf, touch.access):
                return f"{facts.name(number)} takes {touch.access.buffer!r} in another order than its bytes lie in"
    return None


def _rising(facts: Facts, leaf: Copy, access: Access) -> bool:
    """Return whether an access goes through its buffer from the beginning to the end, and through nothing twice."""
    if access.map is None:
        ranges = [pair for pair in access.ranges or () if pair[0] < pair[1]]
        return all(one[1] <= other[0] for one, other in pairwise(ranges))
    found, valid = facts.elements(access, facts.bound(leaf))
    return bool(valid.all() and (np.diff(found.reshape(-1)) > 0).all())


def _copied(facts: Facts) -> bool:
    return any(copies(facts))


def _labelled_copy(facts: Facts) -> bool:
    return any(_made_by_copy(facts, leaf, written) for _, leaf, _, written in copies(facts))


def _made_by_copy(facts: Facts, leaf: Copy, written: Touch) -> list[Node]:
    """Return the copies of the graph that a copy is said to make: that of its label, or else those that it names."""
    names = (written.access.node,) if written.access.node is not None else leaf.provenance
    return [facts.nodes[name] for name in names if facts.nodes[name].op == "copy"]


def no_more_than_asked(facts: Facts) -> str | None:
    """Find a copy of more bytes than the copied value has."""
    told = True
    for number, leaf, _, written in copies(facts):
        told &= bool(facts.owned[number][1] or written.access.node or leaf.provenance)
        node = max(_made_by_copy(facts, leaf, written), key=lambda each: bytes_of(facts, each), default=None)
        if node is not None and size(written.ranges) > bytes_of(facts, node):
            return (
                f"{facts.name(number)} moves {size(written.ranges)} bytes for {node.id!r}, which has "
                f"{bytes_of(facts, node)}"
            )
    return None if told else SILENT


def replica_reused(facts: Facts) -> str | None:
    """Find a copy of bytes that an earlier copy left on the same device, unless the graph forces it."""
    seen: list[tuple[int, Touch, Touch]] = []
    for number, leaf, read, written in copies(facts):
        # A copy that does not say what it is may be any that is forced to there.
        names = [name for name in (*leaf.provenance, written.access.node) if name is not None]
        said = [facts.nodes[name] for name in names if facts.nodes[name].op == "copy"]
        there = facts.buffers[written.access.buffer].device
        may_be = said or [node for node in facts.nodes.values() if node.op == "copy" and node.device == there]
        forced = any(node.arg is True and node.device == there for node in may_be)
        for earlier, before, kept_there in seen:
            same = before.root == read.root and not len(without(read.ranges, before.ranges))
            if not forced and same and ends(facts, before, kept_there) == ends(facts, read, written):
                between = facts.touches[earlier + 1 : number]
                changed = any(
                    touch.write and touch.root == kept.root and overlap(touch.ranges, kept.ranges)
                    for own in between
                    for touch in own
                    for kept in (read, kept_there)
                )
                if not changed:
                    return f"{facts.name(number)} copies {read.access.buffer!r} again, as {facts.name(earlier)} did"
        seen.append((number, read, written))
    return None


def _forced(facts: Facts, known: Collection[str] = ()) -> Iterator[Node]:
    """Yield the forced copies that a result or an assign needs, where it is known whether anybody makes them.

    Nodes that are ``known`` without being computed need nothing.
    """
    # Who makes an unlabelled copy, or a kernel that only moves or of which nothing is known, does not say of what.
    spare = {
        facts.device(leaf)
        for number, leaf in enumerate(facts.leaves)
        if (isinstance(leaf, Copy) or (isinstance(leaf, Kernel) and (moves_only(leaf) or not leaf.bodies)))
        and not leaf.provenance
        and not any(touch.access.node for touch in facts.touches[number])
    }
    made = _made(facts)
    needed = {node.id for node in facts.nodes.values() if node.op == "assign"}
    needed |= set(facts.schedule.graph.results if facts.schedule.graph else ())
    for node in reversed(facts.nodes.values()):
        if node.id in needed and (node.id not in known or node.op == "assign"):
            needed.update(_read(node))
            forced = node.op == "copy" and node.arg is True and 0 not in sizes(node.shape, facts.values)
            if forced and not of_constant(facts, node) and (node.id in made or node.device not in spare):
                yield node


def _read(node: Node) -> tuple[str, ...]:
    """Return the sources that decide the value of a node: of a collective, those of the members that read in it."""
    if node.op != "collective" or node.arg not in TABLE:
        return node.of
    met = Collective(id=node.id, op=str(node.arg), participants=node.members, group="", attrs=node.attrs)
    try:
        reading = readers(met)
    except ScheduleError:
        # What is no such collective has no values either, and is the business of the law.
        return node.of
    return tuple(node.of[first + at] for first in range(0, len(node.of), len(node.members)) for at in reading)


def _made(facts: Facts) -> set[str]:
    """Return the nodes that an item says it writes, and those that what only moves, or meets, is said to be of.

    A name permits no more than what the item can have done: it writes on the node's device what says nothing, or what
    is made of the node.
    """
    found = set(facts.writers)
    for leaf, own in zip(facts.leaves, facts.touches, strict=True):
        if isinstance(leaf, Collective):
            found.update(leaf.provenance)
        elif isinstance(leaf, Copy) or _moves(leaf):
            found.update(name for name in leaf.provenance if any(_may_be(facts, name, touch) for touch in own))
    return found


def _may_be(facts: Facts, name: str, touch: Touch) -> bool:
    """Return whether a write may be the value of a node: on its device, and said to be nothing or made of it."""
    if not touch.write or facts.buffers[touch.access.buffer].device != facts.nodes[name].device:
        return False
    waiting, seen = [touch.access.node or name], set[str]()
    while waiting:
        each = waiting.pop()
        if each == name:
            return True
        if each not in seen:
            seen.add(each)
            waiting += facts.nodes[each].of
    return False


def _moves(leaf: Item) -> bool:
    return isinstance(leaf, Kernel) and moves_only(leaf)


def _perhaps_made(facts: Facts) -> set[str]:
    """Return the nodes that a kernel names which does not say of all that it writes what it is."""
    found: set[str] = set()
    for leaf, own in zip(facts.leaves, facts.touches, strict=True):
        if isinstance(leaf, Kernel) and any(touch.write and touch.access.node is None for touch in own):
            found.update(leaf.provenance)
    return found


def forced_copies(facts: Facts) -> str | None:
    """Find a forced copy that a result or an assign needs, and that no item makes."""
    made, perhaps = _made(facts), _perhaps_made(facts)
    missing = [node for node in _forced(facts) if node.id not in made]
    if missing and calls_fit(facts):
        # What no data change needs nothing: a pad of which only zeros are left.
        known = fixed(facts)
        missing = [node for node in _forced(facts, known) if node.id not in made]
    sure = next((node for node in missing if node.id not in perhaps), None)
    if sure is not None:
        return f"no item makes {sure.id!r}, a copy that is forced"
    return SILENT if missing else None


def on_its_device(facts: Facts) -> str | None:
    """Find a value that is at the end on another device than its node is on. It may be computed elsewhere."""
    for place in facts.schedule.places:
        found, wanted = facts.buffers[place.buffer].device, facts.nodes[place.node].device
        if found != wanted:
            return f"{place.node!r} is said to be in {place.buffer!r} on {found}, not on {wanted}"
    return None


def _met(facts: Facts) -> Iterator[tuple[Collective, Node]]:
    """Yield each collective with each node of the graph that is one and that it, or a part of it, says it makes."""
    for item in facts.schedule.items:
        if isinstance(item, Collective):
            for node in (facts.nodes[name] for name in dict.fromkeys(labels_of(item))):
                if node.op == "collective":
                    yield item, node


def same_meeting(facts: Facts) -> str | None:
    """Find a collective of another operation, or of other participants, than the node of the graph that it makes."""
    items, met = facts.schedule.items, list(_met(facts))
    for item, node in met:
        # What a send has under way is a permute to the graph.
        if (item.op, node.arg) != ("send", "permute") and item.op != node.arg:
            return f"item {item.id!r} is {item.op!r}, and makes {node.id!r}, which is {node.arg!r}"
        if item.participants != node.members:
            mine, theirs = ", ".join(item.participants), ", ".join(node.members)
            return f"item {item.id!r} is of {mine}, and makes {node.id!r}, which is of {theirs}"
    made = {*facts.writers, *facts.partial, *(node.id for _, node in met)}
    left = any(node.op == "collective" and node.id not in made for node in facts.nodes.values())
    # A collective that does not say what it makes may make what nobody says that he makes.
    return SILENT if left and any(isinstance(item, Collective) and not labels_of(item) for item in items) else None


COPIES = (
    ScheduleClause(
        "copies.C1",
        "A copy of a schedule has exactly two accesses, one that reads and one that writes.",
        "tinygrad.schedule: split_store",
        one_and_one,
        some_leaf(lambda each: isinstance(each, Copy)),
    ),
    ScheduleClause(
        "copies.C2",
        "A copy is from one device to another, or between two memories of one device, unless it makes a forced copy "
        "node whose source is on the same device, and moves all bytes of that node's value.",
        "tinygrad.schedule: earliest_rewrites",
        between_devices,
        _copied,
        "should",
    ),
    ScheduleClause(
        "copies.C3",
        "A copy of a schedule writes as many bytes as it reads.",
        "tinygrad.schedule: earliest_rewrites",
        equal_bytes,
        _copied,
    ),
    ScheduleClause(
        "copies.C4",
        "A copy reads contiguous bytes, each once, and writes them in the same order from lower to higher places "
        "in the buffer. Separate ranges that one copy moves are first made contiguous on their own device.",
        "tinygrad.schedule: earliest_rewrites",
        contiguous_source,
        _copied,
        requirement="should",
    ),
    ScheduleClause(
        "copies.C5",
        "A copy of a schedule that makes the value of a copy node writes no more bytes than that value has.",
        "tinygrad.schedule: earliest_rewrites",
        no_more_than_asked,
        _labelled_copy,
        requirement="should",
    ),
    ScheduleClause(
        "copies.C6",
        "Bytes that an earlier copy brought to a device are not copied to that device again from the same place, "
        "unless the copy is forced, or the bytes at the source or at the earlier target were written in between.",
        "tinygrad.multi: MultiLazyBuffer.copy_to_device",
        replica_reused,
        _copied,
        requirement="may",
    ),
    ScheduleClause(
        "copies.C7",
        "A forced copy that a result or an assign needs is made by an item, unless it copies a constant or no "
        "elements, or every value that needs it is the same whatever data are copied.",
        "tinygrad.multi: all_reduce",
        forced_copies,
        lambda facts: any(_forced(facts)),
    ),
    ScheduleClause(
        "copies.C8",
        "The parts of an all_reduce of n devices move, by copies and by kernels between devices, at most n(n-1) times "
        "the bytes of its operand or result, the larger one, where its algorithm is naive, one_shot or left out, and "
        "2(n-1) times for ring, tree, all_to_all and direct.",
        "tinygrad.multi: all_reduce",
        remote_bytes,
        lambda facts: any(measured(facts)),
        requirement="should",
    ),
    ScheduleClause(
        "copies.C9",
        "Every copy that is a part of a collective by the algorithm ring goes from one participant to the next in "
        "the order in which they are listed, or from the last to the first.",
        "tinygrad.multi: all_reduce",
        ring_edges,
        lambda facts: any(ring_copies(facts)),
        requirement="should",
    ),
    ScheduleClause(
        "copies.C10",
        "The buffer that a schedule names as the place of a node's value at the end is on the device of the node.",
        "tinygrad.lazy: LazyBuffer.copy_to_device",
        on_its_device,
        lambda facts: bool(facts.schedule.places),
    ),
    ScheduleClause(
        "copies.C11",
        "A collective of a schedule that makes the value of a collective node has the operation of the node, or "
        "is a send where that is a permute, and it has the same members in the same order.",
        "tinygrad.multi: MultiLazyBuffer.r",
        same_meeting,
        lambda facts: any(_met(facts)),
        requirement="should",
    ),
)
