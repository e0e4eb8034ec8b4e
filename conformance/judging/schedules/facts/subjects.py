"""What clauses speak of: whether a schedule has any of it. A clause says nothing of a schedule that has none.

Labels are a subject too: where no write says which value it is, nobody knows what is made, or that it is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.kernel_body import Body, Load, Store
from conformance.cases.schedule.schedule import Collective, Item, Kernel, Schedule, View, Wait, accesses
from conformance.reference.byte_ranges import overlap
from conformance.reference.schedule.facts import Facts, Touch

Subject = Callable[[Facts], bool]


def both(*subjects: Subject) -> Subject:
    """Speak where all of several subjects are there."""
    return lambda facts: all(subject(facts) for subject in subjects)


def some_leaf(wanted: Callable[[Item], bool]) -> Subject:
    """Speak of some leaves."""
    return lambda facts: any(wanted(each) for each in facts.leaves)


def some_kernel(wanted: Callable[[Kernel], bool] = lambda each: True) -> Subject:
    """Speak of some kernels."""
    return some_leaf(lambda each: isinstance(each, Kernel) and wanted(each))


def body_that_touches(*, writes: bool) -> Subject:
    """Speak of kernels with bodies that write anything, or that read anything."""
    return some_kernel(lambda each: bool(each.bodies) and any(access.write is writes for access in each.accesses))


def bodiless(facts: Facts) -> bool:
    """Return whether nothing tells how some kernel folds: it has no body, and may compute a reduce."""
    bare = [leaf for leaf in facts.leaves if isinstance(leaf, Kernel) and not leaf.bodies]
    return any(not leaf.provenance or any(facts.nodes[each].op in FOLDS for each in leaf.provenance) for leaf in bare)


FOLDS: Final = ("reduce", "call", "all_reduce", "collective")
"""Nodes in whose kernels something may be folded."""


def some_body(wanted: Callable[[Body], bool]) -> Subject:
    """Speak of some bodies."""
    return some_kernel(lambda each: any(wanted(one) for one in each.bodies))


def some_buffer(wanted: Callable[[Buffer], bool]) -> Subject:
    """Speak of some buffers."""
    return lambda facts: any(wanted(each) for each in facts.schedule.buffers)


def some_collective(wanted: Callable[[Collective], bool]) -> Subject:
    """Speak of some collectives, in parts or opaque."""
    return lambda facts: any(isinstance(each, Collective) and wanted(each) for each in facts.schedule.items)


def touched(*, write: bool) -> Subject:
    """Speak of bytes that are written, or that are read."""
    return lambda facts: any(touch.write is write and bool(len(touch.ranges)) for own in facts.touches for touch in own)


def labelled(facts: Facts) -> bool:
    """Speak where writes say which values they are, or where nothing is written."""
    return bool(facts.writers) or not any(touch.write for own in facts.touches for touch in own)


def labelled_node(*ops: str, but: Iterable[str] = ()) -> Subject:
    """Speak of nodes of some operations, or of all ``but`` some, that a write says it is the value of."""
    return lambda facts: any(
        (not ops or facts.nodes[name].op in ops) and facts.nodes[name].op not in but for name in facts.writers
    )


def traced(facts: Facts) -> bool:
    """Speak where items say what they compute."""
    return bool(facts.computing)


def mapped(facts: Facts) -> bool:
    """Speak of accesses by map."""
    return any(access.map is not None for each in facts.leaves for access in accesses(each))


def conflict(first_writes: bool, second_writes: bool) -> Subject:
    """Speak of two items that touch a byte, one after the other, where the first is not only started."""
    return lambda facts: any(
        (other.write, own.write) == (first_writes, second_writes) and first not in facts.started
        for first, _, other, own in facts.conflicts
    )


def started(*, write: bool) -> Subject:
    """Speak of what is only started and writes, or does anything at all."""
    return lambda facts: any(
        len(touch.ranges) and (touch.write or not write) for number in facts.started for touch in facts.touches[number]
    )


def updated(facts: Facts) -> bool:
    """Speak of kernels that read what they write, where it is known at which points."""
    return any(
        isinstance(facts.leaves[number], Kernel)
        and read.root == write.root
        and overlap(read.ranges, write.ranges)
        and None not in (read.access.map, write.access.map)
        for number in facts.in_place
        for write in facts.touches[number]
        for read in facts.touches[number]
        if write.write and not read.write
    )


def reloaded(facts: Facts) -> bool:
    """Speak of bodies that load from bytes that they store to."""
    for number in facts.in_place:
        own, each = by_access(facts, number), facts.leaves[number]
        for one in each.bodies if isinstance(each, Kernel) else ():
            loads = [own[step.access] for step in one.instructions if isinstance(step, Load) and step.access in own]
            stores = [own[step.access] for step in one.instructions if isinstance(step, Store) and step.access in own]
            if any(r.root == w.root and overlap(r.ranges, w.ranges) for r in loads for w in stores):
                return True
    return False


def by_access(facts: Facts, number: int) -> dict[int, Touch]:
    """Return what a leaf touches by the number of the access, local memory apart."""
    listed = [at for at, each in enumerate(accesses(facts.leaves[number])) if not facts.buffers[each.buffer].local]
    return dict(zip(listed, facts.touches[number], strict=True))


def handled(facts: Facts) -> bool:
    """Speak of what is started."""
    return bool(facts.handles)


def anything_done(*schedules: Facts) -> bool:
    """Speak of items that move or compute something, in any of several schedules."""
    return any(own for facts in schedules for own in facts.touches)


def named_twice(schedule: Schedule) -> bool:
    """Return whether a schedule has two of anything that has a name, or two places."""
    nodes = schedule.graph.nodes if schedule.graph else ()
    parts = [part for item in schedule.items for part in (item.parts if isinstance(item, Collective) else ())]
    return max(len(schedule.buffers), len(schedule.items) + len(parts), len(nodes), len(schedule.places)) > 1


def dependent(schedule: Schedule) -> bool:
    """Return whether anything in a schedule is of, in or after another."""
    nodes = schedule.graph.nodes if schedule.graph else ()
    after = any(each.after for item in schedule.items for each in (item, *getattr(item, "parts", ())))
    return after or any(each.of for each in nodes) or any(each.base is not None for each in schedule.buffers)


def communicates(facts: Facts) -> bool:
    """Speak where anything is said of communication buffers, allocations, or of how collectives are done."""
    return any(each.communication or each.allocation for each in facts.schedule.buffers) or any(
        isinstance(each, Collective) and bool(each.algorithms or each.choice or each.call)
        for each in facts.schedule.items
    )


def is_wait(each: Item) -> bool:
    """Return whether an item waits."""
    return isinstance(each, Wait)


def uses_buffers(each: Item) -> bool:
    """Return whether an item names a buffer."""
    return isinstance(each, View) or bool(accesses(each))
