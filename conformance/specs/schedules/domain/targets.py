"""Where assigns write: in their targets, all of them, and nowhere else."""

from __future__ import annotations

from conformance.reference.byte_ranges import NOTHING, joined, without
from conformance.reference.schedule.facts import Facts, Touch
from conformance.specs.schedules.facts.versions import assigning


def done_there(facts: Facts) -> bool:
    """Speak of assigns that are done in the storage of their targets."""
    return any(touch.root == facts.node_bytes(assign.id)[0] for assign, _, touch in assigning(facts))


def only_the_view(facts: Facts) -> str | None:
    """Find an assign that writes outside its target what it does not read there.

    Who writes more of the buffer than the target writes back what it read; ``law.C1`` sees whether it does.
    """
    for assign, number, touch in assigning(facts):
        root, wanted = facts.node_bytes(assign.id)
        outside = without(touch.ranges, wanted)
        for read in facts.touches[number]:
            outside = without(outside, read.ranges) if not read.write and read.root == root else outside
        if touch.root == root and len(outside):
            return f"{facts.name(number)} writes byte {outside[0, 0]} of {root!r}, outside the target of {assign.id!r}"
    return None


def all_of_the_view(facts: Facts) -> str | None:
    """Find an assign that leaves out a part of its target, which no later assign of the program writes."""
    written: dict[str, list[Touch]] = {}
    for assign, _, touch in assigning(facts):
        written.setdefault(assign.id, []).append(touch)
    for name, touches in written.items():
        root, wanted = facts.node_bytes(name)
        done = NOTHING
        for touch in (touch for touch in touches if touch.root == root):
            done = joined(done, touch.ranges)
        missing = without(wanted, done)
        for later, stored in facts.assigned:
            other, ranges = facts.stored_bytes(stored)
            if other == root and facts.program[later] > facts.program[name]:
                missing = without(missing, ranges)
        if len(done) and len(missing):
            return f"nothing writes byte {missing[0, 0]} of {root!r}, in the target of {name!r}"
    return None


def seen_by_every_alias(facts: Facts) -> str | None:
    """Find an assign that writes only another storage than its target's, where no alias sees it."""
    reached = {assign.id for assign, _, touch in assigning(facts) if touch.root == facts.node_bytes(assign.id)[0]}
    for assign, number, touch in assigning(facts):
        root, wanted = facts.node_bytes(assign.id)
        if assign.id not in reached and len(wanted):
            return f"{facts.name(number)} writes {assign.id!r} to {touch.root!r}, and its target is in {root!r}"
    return None
