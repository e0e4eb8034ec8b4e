"""Order and completeness: all that was asked for is computed, once, from what is there by then."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Node
from conformance.cases.schedule.index_map import Indices
from conformance.cases.schedule.schedule import Collective, Copy, Item, Kernel, View, Wait
from conformance.cases.tensor.dtypes import NUMPY
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import PairClause, ScheduleClause
from conformance.judging.schedules.facts.calls import calls_fit
from conformance.judging.schedules.facts.computed import computed_apart, feeds, perhaps_again
from conformance.judging.schedules.facts.free_nodes import alias, free
from conformance.judging.schedules.facts.keys import keys, keys_in_order, untold
from conformance.judging.schedules.facts.labels import unexplained, unlabelled
from conformance.judging.schedules.facts.last_writers import other_value
from conformance.judging.schedules.facts.shared_values import computed_for_several
from conformance.judging.schedules.facts.subjects import anything_done, both, labelled_node, touched, traced
from conformance.reference.byte_ranges import NOTHING, common, joined, overlap, size, without
from conformance.reference.schedule.execute import fixed, wrong_as_listed
from conformance.reference.schedule.facts import Facts, Touch
from conformance.reference.schedule.points import behind


def _all(facts: Facts, buffer: str) -> Indices:
    _, offset = facts.root(buffer)
    return np.array([[offset, offset + facts.buffers[buffer].size]], np.int64)


def _given(facts: Facts) -> dict[str, Indices]:
    """Return the bytes that hold data at the beginning, by home."""
    found: dict[str, Indices] = {}
    for buffer in (each for each in facts.schedule.buffers if each.preexisting):
        home = facts.home(buffer.id)
        found[home] = joined(found.get(home, NOTHING), _all(facts, buffer.id))
    return found


def reads_what_is_there(facts: Facts) -> str | None:
    """Find a byte that is read and that nothing before wrote."""
    held = _given(facts)
    for number, own in enumerate(facts.touches):
        for touch in own:
            inside = common(touch.ranges, _all(facts, touch.access.buffer))
            missing = without(inside, held.get(facts.home(touch.access.buffer), NOTHING))
            if touch.write:
                continue
            for other in own:
                if (
                    other.write
                    and other.root == touch.root
                    and behind(facts.leaves[number], other.access, touch.access)
                ):
                    missing = without(missing, other.ranges)
            if len(missing):
                at = missing[0, 0] - facts.root(touch.access.buffer)[1]
                return f"{facts.name(number)} reads byte {at} of {touch.access.buffer!r}, which nothing before wrote"
        for touch in (touch for touch in own if touch.write):
            home = facts.home(touch.access.buffer)
            held[home] = joined(held.get(home, NOTHING), touch.ranges)
    return None


def _taken(facts: Facts, name: str) -> str:
    """Return the node that has a place, or is storage, for one that is the same value: itself, or what it is of."""
    found: str | None = name
    while found is not None and facts.place(found) is None and found not in facts.stored:
        name = found
        found = alias(facts, facts.nodes[name])
    return name if found is None else found


def _computed_results(facts: Facts) -> Iterator[str]:
    """Yield the results that have to be computed, each as what it is the value of."""
    for result in facts.schedule.graph.results if facts.schedule.graph else ():
        name = _taken(facts, result)
        if name not in facts.stored and (facts.place(name) is not None or not free(facts, name)):
            yield name


def complete(facts: Facts) -> str | None:
    """Find a result that is nowhere, where nothing wrote, or where an item says that it wrote another value."""
    told = True
    held = _given(facts)
    for touch in (touch for own in facts.touches for touch in own if touch.write):
        home = facts.home(touch.access.buffer)
        held[home] = joined(held.get(home, NOTHING), touch.ranges)
    for name in _computed_results(facts):
        place = facts.place(name)
        if place is None and calls_fit(facts) and name in fixed(facts):
            # Whoever knows its value need not store it, as with a constant.
            continue
        if place is None:
            return f"result {name!r} is in no buffer at the end"
        if len(without(place.ranges, held.get(facts.home(place.access.buffer), NOTHING))):
            return f"result {name!r} is said to be in {place.access.buffer!r}, which is not all written"
        problem = other_value(facts, name, place)
        if problem:
            return problem
        told &= problem is None
    return None if told else SILENT


def wrong_value(facts: Facts) -> str | None:
    """Find a result that is nowhere, or that running the schedule in its order gives another value than the graph."""
    return complete(facts) or wrong_as_listed(facts)


def nothing_dead(facts: Facts) -> str | None:
    """Find an item of whose writes nothing is ever needed."""
    needed: dict[str, Indices] = {}
    for buffer in facts.schedule.buffers:
        if buffer.preexisting or buffer.held or buffer.output:
            home = facts.home(buffer.id)
            needed[home] = joined(needed.get(home, NOTHING), _all(facts, buffer.id))
    for name in facts.schedule.graph.results if facts.schedule.graph else ():
        place = facts.place(_taken(facts, name))
        if place is not None:
            home = facts.home(place.access.buffer)
            needed[home] = joined(needed.get(home, NOTHING), place.ranges)
    for number in reversed(range(len(facts.leaves))):
        leaf, owner = facts.owned[number]
        if isinstance(leaf, View | Wait):
            continue
        own = [(facts.home(touch.access.buffer), touch) for touch in facts.touches[number]]
        written = [(home, touch) for home, touch in own if touch.write and len(touch.ranges)]
        alive = [overlap(touch.ranges, needed.get(home, NOTHING)) for home, touch in written]
        # A collective has an effect on its peers, and an assign or a forced copy is one, whether anybody here reads the
        # outcome or not.
        effect = isinstance(leaf, Collective) or any(_effects(facts, leaf, [touch for _, touch in written]))
        # Writes of no byte are the business of ``no_kernel.C6``.
        idle = not written and any(touch.write for _, touch in own)
        if not any(alive) and not idle and owner is None and not effect:
            return f"{facts.name(number)} computes what nothing reads and nobody asked for"
        for home, touch in own:
            if touch.write:
                needed[home] = without(needed.get(home, NOTHING), touch.ranges)
        for home, touch in own:
            if not touch.write:
                needed[home] = joined(needed.get(home, NOTHING), touch.ranges)
    return None


def _effects(facts: Facts, leaf: Item, written: Sequence[Touch]) -> Iterator[Node]:
    """Yield the nodes done for their own sake that an item says it writes, or computes where a write may be that."""
    for touch in written:
        if touch.access.node is not None and _effect(facts.nodes[touch.access.node]):
            yield facts.nodes[touch.access.node]
    for node in (facts.nodes[name] for name in leaf.provenance):
        if _effect(node) and any(touch.access.node is None and _may_be(facts, node, touch) for touch in written):
            yield node
    yield from (node for node in _nobodys(facts) if any(_whole_of(facts, node, leaf, touch) for touch in written))


def _nobodys(facts: Facts) -> Iterator[Node]:
    """Yield the forced copies that no item says it does."""
    yield from (
        node
        for node in facts.nodes.values()
        if node.op == "copy" and _effect(node) and node.id not in facts.writers and node.id not in facts.computing
    )


def _whole_of(facts: Facts, node: Node, leaf: Item, touch: Touch) -> bool:
    """Return whether a write of an item that says nothing has the bytes of a copy, and is on its device."""
    silent = not leaf.provenance and touch.access.node is None
    return silent and _may_be(facts, node, touch) and size(touch.ranges) == _bytes(facts, node.id)


def _effect(node: Node) -> bool:
    """Return whether a node is done for its own sake: an assign, or a copy that is forced."""
    return node.op == "assign" or (node.op == "copy" and node.arg is True)


def _may_be(facts: Facts, node: Node, touch: Touch) -> bool:
    """Return whether a write may be that of a node: of an assign in its target, of a copy on its device."""
    if node.op != "assign":
        return facts.buffers[touch.access.buffer].device == node.device
    root, ranges = facts.node_bytes(node.id)
    return touch.root == root and overlap(touch.ranges, ranges)


def _known_results(facts: Facts) -> bool:
    """Speak where it is known what was asked for: of a graph, or of buffers that are read afterwards."""
    return facts.schedule.graph is not None or any(buffer.output for buffer in facts.schedule.buffers)


def _lone(facts: Facts) -> bool:
    """Speak of what is no part of a collective."""
    return any(owner is None and isinstance(leaf, Kernel | Copy) for leaf, owner in facts.owned)


def realised_once(facts: Facts) -> str | None:
    """Find a node that two items write to the same bytes; what says nothing may be written over by its like."""
    for node, written in facts.writers.items():
        for (earlier, other), (number, touch) in combinations(written, 2):
            same = facts.home(touch.access.buffer) == facts.home(other.access.buffer) and earlier != number
            if facts.nodes[node].op != "assign" and same and overlap(touch.ranges, other.ranges):
                return f"{facts.name(number)} writes {node!r} again, which {facts.name(earlier)} wrote there"
    for bare, unsaid in unlabelled(facts):
        for number, own in enumerate(facts.touches):
            if bare != number and any(each.write and _same_bytes(facts, unsaid, each) for each in own):
                return SILENT
    return None


def _same_bytes(facts: Facts, one: Touch, other: Touch) -> bool:
    same = facts.home(one.access.buffer) == facts.home(other.access.buffer)
    return same and overlap(one.ranges, other.ranges)


def shared_once(facts: Facts) -> str | None:
    """Find a contig or reduce node that is in a buffer and computed again elsewhere."""
    for node, numbers in facts.computing.items():
        if facts.nodes[node].op not in {"contig", "reduce"} or node not in facts.writers:
            continue
        for (earlier, other), (number, touch) in combinations(_whole(facts, node, numbers), 2):
            # In the same buffer it is the business of ``order.C4``; what is cloned is not computed.
            apart = earlier != number and facts.home(touch.access.buffer) != facts.home(other.access.buffer)
            if apart and not feeds(facts, earlier, {number}):
                return f"{facts.name(number)} computes {node!r} again, which {facts.name(earlier)} keeps in a buffer"
        realising = {number for number, _ in facts.writers[node]}
        again = computed_apart(facts, numbers, realising)
        if again:
            first = min(realising)
            return f"{facts.name(again[0])} computes {node!r} again, which {facts.name(first)} keeps in a buffer"
    return SILENT if unexplained(facts) or perhaps_again(facts) else None


def _whole(facts: Facts, node: str, numbers: list[int]) -> list[tuple[int, Touch]]:
    """Return which of some leaves write all elements of a node at once, and where."""
    count, written = _bytes(facts, node), facts.writers[node]
    return [(number, touch) for number, touch in written if number in numbers and size(touch.ranges) == count > 0]


def _bytes(facts: Facts, node: str) -> int:
    return math.prod(sizes(facts.nodes[node].shape, facts.values)) * NUMPY[facts.nodes[node].dtype].itemsize


def idle(first: Facts, second: Facts) -> str | None:  # noqa: ARG001 - the signature of ``PairClause.check``
    """Find an item that is left after everything has run."""
    left = [number for number, own in enumerate(second.touches) if own]
    return f"{second.name(left[0])} runs again what has been run" if left else None


def no_more_together(first: Facts, *alone: Facts) -> str | None:
    """Find more items for results asked for together than for each alone, beside what is computed once for several."""
    mine, theirs = len(keys(first)), [len(keys(each)) for each in alone]
    if mine <= sum(theirs) or mine - computed_for_several(first) <= sum(theirs):
        return None
    return f"{mine} items make the results together, and {' and '.join(map(str, theirs))} make them alone"


def same_kernels(first: Facts, second: Facts) -> str | None:
    """Find an item that the other schedule has not."""
    mine, theirs = sorted(keys(first)), sorted(keys(second))
    if mine == theirs:
        return SILENT if untold(first) or untold(second) else None
    return f"the same results in another order make other items: {len(mine)} and {len(theirs)}, or of other content"


def same_kernels_with_more(first: Facts, second: Facts) -> str | None:
    """Find items of a graph with a node more that nothing needs that the graph without it has not."""
    mine, theirs = sorted(keys(first)), sorted(keys(second))
    if mine == theirs:
        return SILENT if untold(first) or untold(second) else None
    return f"{len(mine)} items, and {len(theirs)}, or others, when a node is listed that nothing needs"


def same_order(first: Facts, second: Facts) -> str | None:
    """Find the first item that differs."""
    mine, theirs = keys_in_order(first), keys_in_order(second)
    for (number, one), (_, other) in zip(mine, theirs, strict=False):
        if one != other:
            return f"{first.name(number)} is another item when the same graph is scheduled again"
    if len(mine) != len(theirs):
        return f"{len(mine)} items, and {len(theirs)} when scheduled again"
    return SILENT if untold(first) or untold(second) else None


ORDER = (
    ScheduleClause(
        "order.C1",
        "An item reads, of a storage or a planned buffer, only bytes that held data before the schedule, or that an "
        "earlier item wrote there, or an earlier phase of the same item behind a barrier that all its points pass.",
        "tinygrad.lazy: LazyBuffer.schedule",
        reads_what_is_there,
        touched(write=False),
    ),
    ScheduleClause(
        "order.C2",
        "At the end, the buffer that the schedule names as the place of a result holds its value. No place is needed "
        "for results for which the clauses from `no_kernel.C1` to `no_kernel.C17` need no kernel, and for those that "
        "are the same for all data.",
        "tinygrad.lazy: LazyBuffer.schedule",
        complete,
        lambda facts: any(_computed_results(facts)),
    ),
    ScheduleClause(
        "order.C3",
        "Every kernel and every copy item that is no part of a collective contributes, itself or through later items, "
        "to a result, an assign, a forced copy, a collective, or a buffer that held data before, is reachable from "
        "outside or is read afterwards.",
        "tinygrad.lazy: LazyBuffer.schedule",
        nothing_dead,
        both(_known_results, _lone),
        requirement="should",
    ),
    ScheduleClause(
        "order.C4",
        "No two items write the value of one node to the same bytes of one storage or of one planned buffer, unless "
        "the node is an assign.",
        "tinygrad.lazy: LazyBuffer.schedule",
        realised_once,
        labelled_node(but=["assign"]),
        requirement="should",
    ),
    ScheduleClause(
        "order.C5",
        "No item computes a contig or reduce node whose value another item keeps in a buffer, unless one of the two "
        "items takes what the other computes.",
        "tinygrad.lazy: LazyBuffer.schedule",
        shared_once,
        both(labelled_node("contig", "reduce"), traced),
        requirement="should",
    ),
)

ORDER_OF_TWO = (
    PairClause(
        "order.C6",
        "After the schedule of a graph has run, a schedule of the same results of that graph has no item that "
        "reads or writes.",
        "tinygrad.lazy: LazyBuffer.schedule",
        "afterwards",
        idle,
        anything_done,
        requirement="should",
    ),
    PairClause(
        "order.C7",
        "Where the same results of a graph are asked for in another order, its schedule has the same items, but "
        "for their order and for names.",
        "tinygrad.lazy: LazyBuffer.schedule",
        "reordered",
        same_kernels,
        anything_done,
        requirement="should",
    ),
    PairClause(
        "order.C8",
        "A graph that is scheduled again, in whatever process, has the same items in the same order, but for names.",
        "tinygrad.lazy: LazyBuffer.schedule",
        "again",
        same_order,
        anything_done,
        requirement="should",
    ),
    PairClause(
        "order.C10",
        "Without a node that is no result, assign or forced copy, and that none of these depends on, the schedule "
        "of a graph has the same items as with it, but for their order and for names.",
        "tinygrad.lazy: LazyBuffer.schedule",
        "dropped",
        same_kernels_with_more,
        anything_done,
        requirement="should",
    ),
    PairClause(
        "order.C9",
        "A schedule of several results has no more kernels, copies and collectives, these counted by their parts, "
        "than the schedules of each result alone have together, except one more for each value that one kernel "
        "computes for several items.",
        "tinygrad.lazy: LazyBuffer.schedule",
        "together",
        no_more_together,
        anything_done,
        requirement="should",
    ),
)
