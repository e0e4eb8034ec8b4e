"""Where assigns write: in their targets, all of them, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.cases.graph.graph import Node
from conformance.cases.schedule.index_map import Indices
from conformance.judging.clause import SILENT
from conformance.judging.schedules.facts.free_nodes import itself
from conformance.judging.schedules.facts.labels import unlabelled
from conformance.judging.schedules.facts.versions import assigning
from conformance.reference.byte_ranges import NOTHING, joined, overlap, without
from conformance.reference.schedule.facts import Facts, Touch


def done_there(facts: Facts) -> bool:
    """Speak of assigns that are done in the storage of their targets."""
    return any(touch.root == facts.node_bytes(assign.id)[0] for assign, _, touch in assigning(facts))


def only_the_view(facts: Facts) -> str | None:
    """Find an assign that writes outside its target what it does not read there.

    Who writes more of the buffer than the target writes back what it read; ``law.C1`` sees whether it does.
    """
    for assign, number, touch in assigning(facts):
        root, wanted = facts.node_bytes(assign.id)
        outside = _beside(facts, number, touch, wanted)
        if touch.root == root and len(outside):
            return f"{facts.name(number)} writes byte {outside[0, 0]} of {root!r}, outside the target of {assign.id!r}"
    for number, touch in unlabelled(facts):
        for root, wanted in _targets(facts):
            # What says nothing may be any assign that it touches the target of.
            if touch.root == root and overlap(touch.ranges, wanted) and len(_beside(facts, number, touch, wanted)):
                return SILENT
    return None


def _targets(facts: Facts) -> Iterator[tuple[str, Indices]]:
    for node in _assigns(facts):
        yield facts.node_bytes(node.id)


def _beside(facts: Facts, number: int, touch: Touch, wanted: Indices) -> Indices:
    """Return what a write has outside a target that its item does not read there."""
    outside = without(touch.ranges, wanted)
    for read in facts.touches[number]:
        outside = without(outside, read.ranges) if not read.write and read.root == touch.root else outside
    return outside


def all_of_the_view(facts: Facts) -> str | None:
    """Find an assign that leaves out a part of its target, which no later assign of the program writes."""
    told, written = True, dict[str, list[Touch]]()
    for assign, _, touch in assigning(facts):
        written.setdefault(assign.id, []).append(touch)
    for name, touches in written.items():
        root, wanted = facts.node_bytes(name)
        done, there = NOTHING, [touch for touch in touches if touch.root == root]
        for touch in there:
            done = joined(done, touch.ranges)
        missing = without(wanted, done)
        for later, stored in facts.assigned:
            other, ranges = facts.stored_bytes(stored)
            if other == root and facts.program[later] > facts.program[name]:
                missing = without(missing, ranges)
        for _, touch in unlabelled(facts) if there and len(missing) else ():
            left = without(missing, touch.ranges) if touch.root == root else missing
            told &= len(left) == len(missing)
            missing = left
        if there and len(missing):
            return f"nothing writes byte {missing[0, 0]} of {root!r}, in the target of {name!r}"
    return None if told and not _undone(facts) else SILENT


def _undone(facts: Facts) -> bool:
    """Return whether what says nothing may do an assign that no label names, and perhaps a part of it."""
    open_ = [touch for _, touch in unlabelled(facts)]
    for node in _assigns(facts):
        if node.id not in facts.writers:
            root, wanted = facts.node_bytes(node.id)
            if any(touch.root == root and overlap(touch.ranges, wanted) for touch in open_):
                return True
    return False


def seen_by_every_alias(facts: Facts) -> str | None:
    """Find an assign that writes only another storage than its target's, where no alias sees it.

    Of what is in the target already, who writes that elsewhere moves it, and there is nothing to do in the target.
    """
    reached = {assign.id for assign, _, touch in assigning(facts) if touch.root == facts.node_bytes(assign.id)[0]}
    for assign, number, touch in assigning(facts):
        if itself(facts, assign):
            continue
        root, wanted = facts.node_bytes(assign.id)
        if assign.id not in reached and len(wanted):
            return f"{facts.name(number)} writes {assign.id!r} to {touch.root!r}, and its target is in {root!r}"
    nameless = any(assign.id not in facts.writers and len(facts.node_bytes(assign.id)[1]) for assign in _assigns(facts))
    return SILENT if nameless and any(unlabelled(facts)) else None


def _assigns(facts: Facts) -> list[Node]:
    return [node for node in facts.nodes.values() if node.op == "assign"]
