"""Assigns, aliases and the order of reads and writes, decided over index maps and bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from conformance.cases.graph.graph import Node
from conformance.cases.schedule.index_map import Indices
from conformance.cases.schedule.kernel_body import Load, Store
from conformance.cases.schedule.schedule import Kernel
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import ScheduleClause
from conformance.judging.schedules.facts.due_assigns import due, every_assign
from conformance.judging.schedules.facts.labels import unlabelled
from conformance.judging.schedules.facts.subjects import both, by_access, conflict, labelled, reloaded, touched, updated
from conformance.judging.schedules.facts.targets import all_of_the_view, done_there, only_the_view, seen_by_every_alias
from conformance.judging.schedules.facts.versions import assigning, crossed, meeting
from conformance.reference.byte_ranges import NOTHING, common, joined, overlap, without
from conformance.reference.schedule.facts import Facts, Touch
from conformance.reference.schedule.points import behind, crossing

Assigning = tuple[Node, int, Touch]
"""An assign, the number of the leaf that does it, and what that writes."""


def reads_where_it_writes(facts: Facts) -> str | None:
    """Find a kernel that reads an element at one point and writes it at another; say nothing beside one without a body.

    Nobody knows of such a one whether it does both in one body.
    """
    told = True
    for number, leaf in enumerate(facts.leaves):
        if not isinstance(leaf, Kernel):
            continue
        own = facts.touches[number]
        for written in (touch for touch in own if touch.write):
            for read in (touch for touch in own if not touch.write):
                at = crossing(facts, number, read, written)
                told &= bool(leaf.bodies) or not (read.root == written.root and overlap(read.ranges, written.ranges))
                if _in_two_bodies(leaf, read, written):
                    return (
                        f"{facts.name(number)} reads {read.access.buffer!r} in one body and writes it in another, and "
                        "the two run side by side"
                    )
                if at is not None:
                    return (
                        f"{facts.name(number)} reads element {at} of {read.access.buffer!r} at another point than "
                        f"where it writes it; the value must be kept elsewhere first"
                    )
    return None if told else SILENT


def _in_two_bodies(leaf: Kernel, read: Touch, written: Touch) -> bool:
    """Return whether a body of a kernel reads bytes that another one writes, with no barrier between them."""
    if len(leaf.bodies) < 2 or read.root != written.root or not overlap(read.ranges, written.ranges):
        return False
    if behind(leaf, read.access, written.access) or behind(leaf, written.access, read.access):
        return False
    own = [{each.access for each in body.instructions if isinstance(each, Load | Store)} for body in leaf.bodies]
    loads = {at for at, used in enumerate(own) for n in used if leaf.accesses[n] is read.access}
    stores = {at for at, used in enumerate(own) for n in used if leaf.accesses[n] is written.access}
    return any(one != other for one in loads for other in stores)


def _updates(facts: Facts) -> bool:
    """Speak of kernels that read what they write, at known points or in bodies side by side."""
    return updated(facts) or any(
        isinstance(leaf, Kernel)
        and any(_in_two_bodies(leaf, r, w) for r in own for w in own if w.write and not r.write)
        for leaf, own in zip(facts.leaves, facts.touches, strict=True)
    )


def no_read_after_store(facts: Facts) -> str | None:
    """Find a body that loads what an earlier instruction of it stored; of local memory see ``staging.C1``."""
    for number, leaf in enumerate(facts.leaves):
        own = by_access(facts, number)
        for body in leaf.bodies if isinstance(leaf, Kernel) else ():
            stored: list[Touch] = []
            for each in body.instructions:
                if isinstance(each, Store) and each.access in own:
                    stored.append(own[each.access])
                if isinstance(each, Load) and each.access in own:
                    touch = own[each.access]
                    for other in stored:
                        if touch.root == other.root and overlap(touch.ranges, other.ranges):
                            return (
                                f"{facts.name(number)} loads {touch.access.buffer!r} before and after it stores there, "
                                "a cycle"
                            )
    return None


def _edges(first_writes: bool, second_writes: bool, what: str) -> Callable[[Facts], str | None]:
    def check(facts: Facts) -> str | None:
        for first, second, other, own in facts.conflicts:
            kind = (other.write, own.write) == (first_writes, second_writes)
            # What is only started and not waited for is the business of the clauses about waits.
            if kind and first not in facts.started and not facts.ordered(first, second):
                return (
                    f"{facts.name(second)} {what.format(repr(own.access.buffer))} {facts.name(first)}, and does not "
                    "wait for it"
                )
        return None

    return check


def old_value_first(facts: Facts) -> str | None:
    """Find a read of the new value where the program reads the old one."""
    return crossed(facts, earlier=False)


def new_value_after(facts: Facts) -> str | None:
    """Find a read of the old value where the program reads the new one."""
    return crossed(facts, earlier=True)


def _assigned_twice(facts: Facts) -> Iterator[tuple[Assigning, Assigning]]:
    """Yield the assigns to one element, the one that comes first in the program first, with who does each."""
    assigns = list(assigning(facts))
    for one in assigns:
        for other in assigns:
            after = facts.program[one[0].id] < facts.program[other[0].id]
            if after and one[2].root == other[2].root and overlap(one[2].ranges, other[2].ranges):
                yield one, other


def last_assign_wins(facts: Facts) -> str | None:
    """Find an assign that is done after one that comes later in the program, where it is not written over again."""
    told = True
    for one, other in _assigned_twice(facts):
        (first, number, touch), (second, _, above) = one, other
        shared = common(touch.ranges, above.ranges)
        if len(_left(facts, one, shared, perhaps=True)):
            return f"{facts.name(number)} does {first.id!r} after {second.id!r}, which comes later in the program"
        told &= not len(_left(facts, one, shared, perhaps=False))
    for _, touch in unlabelled(facts):
        targets = [facts.stored_bytes(stored) for _, stored in facts.assigned]
        if sum(root == touch.root and overlap(ranges, touch.ranges) for root, ranges in targets) > 1:
            return SILENT
    return None if told else SILENT


def _stored_last(facts: Facts, number: int, earlier: Touch, later: Touch) -> bool | None:
    """Return whether a leaf stores a touch after another, in a body or behind a barrier; ``None`` if nothing tells."""
    leaf = facts.leaves[number]
    if not isinstance(leaf, Kernel):
        return None
    if behind(leaf, earlier.access, later.access) or behind(leaf, later.access, earlier.access):
        return behind(leaf, earlier.access, later.access)
    for body in leaf.bodies:
        stores = [leaf.accesses[each.access] for each in body.instructions if isinstance(each, Store)]
        places = [[at for at, each in enumerate(stores) if each is one.access] for one in (earlier, later)]
        if all(places):
            return max(places[0]) < max(places[1])
    return None


def _left(facts: Facts, one: Assigning, ranges: Indices, *, perhaps: bool) -> Indices:
    """Return what is left of some bytes that an assign wrote after assigns that come later than it, done behind it.

    Where nothing tells which of two in one item is done last, the later one counts as done behind only ``perhaps``.
    """
    first, number, touch = one
    for other, later, above in assigning(facts):
        if above.root != touch.root or facts.program[other.id] <= facts.program[first.id]:
            continue
        last = _stored_last(facts, number, touch, above) if later == number else later > number
        if last or (last is None and perhaps):
            ranges = without(ranges, above.ranges)
    return ranges


def only_what_is_assigned(facts: Facts) -> str | None:
    """Find a byte that was there before, and that is written though the graph assigns nothing to it."""
    assigned: dict[str, Indices] = {}
    for _, stored in facts.assigned:
        root, ranges = facts.stored_bytes(stored)
        assigned[root] = joined(assigned.get(root, NOTHING), ranges)
    # What an assign writes in the storage of its own target is what C9 speaks of.
    labelled = {id(touch) for assign, _, touch in assigning(facts) if touch.root == facts.node_bytes(assign.id)[0]}
    for number, own in enumerate(facts.touches):
        for touch in own:
            if touch.write and touch.root in facts.given and id(touch) not in labelled:
                stray = common(facts.given[touch.root], without(touch.ranges, assigned.get(touch.root, NOTHING)))
                if len(stray):
                    return f"{facts.name(number)} writes byte {stray[0, 0]} of {touch.root!r}, which nothing assigns to"
    return None


def nothing_for_nothing(facts: Facts) -> str | None:
    """Find an item for an assign to a view without elements."""
    for name, written in facts.writers.items():
        if facts.nodes[name].op == "assign" and not facts.stored[name].at.size:
            return f"{facts.name(written[0][0])} does {name!r}, whose target has no element"
    # What writes no byte and says nothing may be such an assign.
    bare = (touch for own in facts.touches for touch in own if touch.write and touch.access.node is None)
    return SILENT if any(not len(touch.ranges) for touch in bare) else None


def _to_nothing(facts: Facts) -> bool:
    return any(node.op == "assign" and not facts.stored[node.id].at.size for node in facts.nodes.values())


def _given(facts: Facts) -> bool:
    """Speak of bytes that were there before, where it is known what is assigned to."""
    return facts.schedule.graph is not None and bool(facts.given)


ASSIGN = (
    ScheduleClause(
        "assign.C1",
        "A kernel that reads an element which it also writes does both at the same point and in the same body, or "
        "in two phases with a barrier of all points between them.",
        "tinygrad.schedule: fix_store_hazard",
        reads_where_it_writes,
        _updates,
    ),
    ScheduleClause(
        "assign.C2",
        "In a body, no load whose place is known without data reads an element that an earlier store of the body "
        "writes, at whatever point.",
        "tinygrad.schedule: find_bufs",
        no_read_after_store,
        reloaded,
        requirement="may",
    ),
    ScheduleClause(
        "assign.C3",
        "An item that reads what an earlier item writes begins after that one has ended, by edges or, where it "
        "lists none, by the order of the items. Where the earlier one is only started see `waits.C3`.",
        "tinygrad.lazy: LazyBuffer.schedule",
        _edges(True, False, "reads {} of"),
        conflict(True, False),
    ),
    ScheduleClause(
        "assign.C4",
        "An item that writes what an earlier item reads begins after that one has ended, by edges or, where it "
        "lists none, by the order of the items. Where the earlier one is only started see `waits.C4`.",
        "tinygrad.schedule: get_kernel_graph",
        _edges(False, True, "writes {}, read by"),
        conflict(False, True),
    ),
    ScheduleClause(
        "assign.C5",
        "An item that writes what an earlier item writes begins after that one has ended, by edges or, where it "
        "lists none, by the order of the items. Where the earlier one is only started see `waits.C4`.",
        "tinygrad.schedule: get_kernel_graph",
        _edges(True, True, "writes {}, written by"),
        conflict(True, True),
    ),
    ScheduleClause(
        "assign.C6",
        "An item that computes a node which reads the target of an assign, and which the graph lists before that "
        "assign, takes the old value: from the target before it is written, from other storage that keeps it, or "
        "by making it anew.",
        "tinygrad.schedule: get_kernel_graph",
        old_value_first,
        lambda facts: meeting(facts, earlier=False),
    ),
    ScheduleClause(
        "assign.C7",
        "An item that computes a node which reads the target of an assign, and which the graph lists after that "
        "assign, takes the new value: from the target after it is written, from other storage that has it, or by "
        "making it anew.",
        "tinygrad.schedule: handle_after",
        new_value_after,
        lambda facts: meeting(facts, earlier=True),
    ),
    ScheduleClause(
        "assign.C8",
        "Of several assigns to one element that items do, the one that the graph lists last writes the element last.",
        "tinygrad.schedule: get_kernel_graph",
        last_assign_wins,
        lambda facts: any(_assigned_twice(facts)),
    ),
    ScheduleClause(
        "assign.C9",
        "The write by which an item does an assign changes no element outside the target: it covers such an "
        "element only where the item also reads it, and stores what it read.",
        "tinygrad.schedule: bufferize_to_store",
        only_the_view,
        done_there,
    ),
    ScheduleClause(
        "assign.C10",
        "The items that do an assign together write every element of its target, except elements that an assign "
        "which the graph lists later has in its target.",
        "tinygrad.schedule: bufferize_to_store",
        all_of_the_view,
        done_there,
    ),
    ScheduleClause(
        "assign.C11",
        "Of the items that do an assign of at least one element, at least one writes it to the storage of its "
        "target, where every alias sees it.",
        "tinygrad.schedule: bufferize_to_store",
        seen_by_every_alias,
        lambda facts: any(len(facts.node_bytes(assign.id)[1]) for assign, _, _ in assigning(facts)),
    ),
    ScheduleClause(
        "assign.C12",
        "A byte that held data before the schedule is written only where it is in the target of an assign of the "
        "graph, or by an item that does an assign to that storage; of that see `assign.C9`.",
        "tinygrad.lazy: LazyBuffer.schedule",
        only_what_is_assigned,
        both(_given, touched(write=True)),
    ),
    ScheduleClause(
        "assign.C13",
        "No item does an assign whose target has no elements.",
        "tinygrad.schedule: earliest_rewrites",
        nothing_for_nothing,
        both(labelled, _to_nothing),
        requirement="should",
    ),
    ScheduleClause(
        "assign.C14",
        "An item does every assign of the graph, on whichever device, unless the assign changes nothing that is "
        "stored, or the graph lists a later one that does the same again, or that writes all its elements before "
        "any node reads one of them.",
        "tinygrad.multi: MultiLazyBuffer.assign",
        every_assign,
        lambda facts: any(due(facts)),
    ),
)
