"""Fusion: what one kernel does rather than two, what it may not do at once, and what it should not do twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import LEAVES, MOVEMENT, Node
from conformance.cases.schedule.index_map import Indices
from conformance.cases.schedule.kernel_body import Fetch, Load, Reduce, sources
from conformance.cases.schedule.schedule import Kernel
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import ScheduleClause
from conformance.judging.schedules.facts import free_nodes
from conformance.judging.schedules.facts.algorithms import bytes_of
from conformance.judging.schedules.facts.computed import computing, names_of, perhaps_computing
from conformance.judging.schedules.facts.kernels import moves_only
from conformance.judging.schedules.facts.labels import hidden, nameless, unexplained
from conformance.judging.schedules.facts.pairs import Between, between, once_each, perhaps_between, reduces
from conformance.judging.schedules.facts.subjects import (
    Subject,
    bodiless,
    both,
    labelled,
    some_body,
    some_kernel,
    traced,
)
from conformance.reference.byte_ranges import NOTHING, joined, overlap, size
from conformance.reference.schedule.facts import Facts, Touch
from conformance.reference.schedule.points import positions
from conformance.specs.schedules.bodies import open_axes

_ELEMENTWISE = ("alu", "cast", "bitcast")


_Kind = Callable[[Facts, Between], bool | None]
"""Says whether a value between two kernels is of a kind, ``None`` where nobody knows what the second one makes."""


def _apart(kind: _Kind, ops: tuple[str, ...], what: str) -> Callable[[Facts], str | None]:
    def check(facts: Facts) -> str | None:
        told = True
        for each in between(facts):
            found = kind(facts, each)
            if found:
                return (
                    f"{facts.name(each.maker)} keeps {each.node.id!r} for {facts.name(each.taker)} alone, {what}: one "
                    "kernel would do"
                )
            told &= found is not None
        if not told or any(each.node.op in ops for each in perhaps_between(facts)):
            return SILENT
        return SILENT if hidden(facts, [node.id for node in facts.nodes.values() if node.op in ops]) else None

    return check


def _elementwise(facts: Facts, each: Between) -> bool | None:
    plain = each.node.op in _ELEMENTWISE and not reduces(facts, each.maker) and not reduces(facts, each.taker)
    return plain and _computes(facts, each.taker, *_ELEMENTWISE)


def _into_reduce(facts: Facts, each: Between) -> bool:
    return each.node.op in _ELEMENTWISE and not reduces(facts, each.maker) and reduces(facts, each.taker)


def _out_of_reduce(facts: Facts, each: Between) -> bool | None:
    plain = each.node.op == "reduce" and reduces(facts, each.maker) and not reduces(facts, each.taker)
    return plain and _computes(facts, each.taker, *_ELEMENTWISE)


def _computes(facts: Facts, number: int, *ops: str) -> bool | None:
    """Return whether a leaf writes nothing but nodes of some operations; ``None`` where nobody knows what it writes."""
    named = names_of(facts, number)
    fits = all(name is None or facts.nodes[name].op in ops for name in named)
    return None if fits and None in named else fits


def _follows(first: tuple[str, ...], second: tuple[str, ...]) -> Subject:
    """Speak of graphs in which a node of one kind, or movement of it, is taken by one of another kind."""

    def speaks(facts: Facts) -> bool:
        for node in facts.nodes.values():
            if node.op in second and any(_unmoved(facts, name).op in first for name in node.of):
                return True
        return False

    return both(labelled, some_kernel(lambda each: bool(each.bodies)), speaks)


def _unmoved(facts: Facts, name: str) -> Node:
    node = facts.nodes[name]
    while node.op in MOVEMENT:
        node = facts.nodes[node.of[0]]
    return node


def no_reduce_recomputed(facts: Facts) -> str | None:
    """Find a reduce of what is loaded that is evaluated at points which it does not depend on.

    Say nothing beside a kernel without a body.
    """
    for number, leaf in enumerate(facts.leaves):
        # What a kernel folds of what it writes it may have to fold at each point: that is the business of ``assign``.
        for body in leaf.bodies if isinstance(leaf, Kernel) and number not in facts.in_place else ():
            assert isinstance(leaf, Kernel)
            shape, axes = sizes(body.extents, facts.bound(leaf)), open_axes(facts, leaf, body)
            loads: list[bool] = []
            for at, each in enumerate(body.instructions):
                loads.append(isinstance(each, Load | Fetch) or any(loads[source] for source in sources(each)))
                if isinstance(each, Reduce) and loads[at]:
                    idle = [a for a, n in enumerate(shape) if n > 1 and a not in each.axes and a not in axes[at]]
                    if idle:
                        return f"{facts.name(number)} folds the same terms at every point of axis {idle[0]}"
    return SILENT if bodiless(facts) else None


def few_kernels_for_two_reduces(facts: Facts) -> str | None:
    """Find a reduce of a reduce, with elementwise operations between, that takes more than two kernels."""
    told, perhaps = not unexplained(facts), perhaps_computing(facts)
    for outer, inner, chain in _nested(facts):
        names = (inner, *chain, outer)
        made = {number for name in names for number in facts.computing.get(name, ())}
        if any(facts.place(name) is not None for name in (inner, *chain)):
            continue
        if len(made) > 2:
            return f"{len(made)} items compute {outer!r}, a reduce of the reduce {inner!r}"
        told &= len(made.union(*(perhaps.get(name, ()) for name in names))) <= 2
    return None if told else SILENT


def _nested(facts: Facts) -> Iterator[tuple[str, str, list[str]]]:
    """Yield reduces of reduces, with the elementwise nodes and the movement between them, one after the other."""
    for node in facts.nodes.values():
        chain: list[str] = []
        at = facts.nodes[node.of[0]] if node.op == "reduce" else node
        while at.op in {*_ELEMENTWISE, *MOVEMENT}:
            chain.append(at.id)
            computed = [facts.nodes[name] for name in at.of if _unmoved(facts, name).op not in LEAVES]
            if len(computed) != 1:
                break
            at = computed[0]
        if node.op == "reduce" and at.op == "reduce" and at is not node:
            yield node.id, at.id, chain


def kept_as_asked(facts: Facts) -> str | None:
    """Find a contig that is computed, and in no buffer with all its elements."""
    told = True
    assigned = {node.of[1] for node in facts.nodes.values() if node.op == "assign"}
    for name in facts.computing:
        node = facts.nodes[name]
        # What is assigned may be computed where it is assigned to.
        wanted = node.op == "contig" and not free_nodes.free(facts, name) and name not in assigned
        if not wanted:
            continue
        apart: dict[str, Indices] = {}
        for _, touch in facts.writers.get(name, ()):
            home = facts.home(touch.access.buffer)
            apart[home] = joined(apart.get(home, NOTHING), touch.ranges)
        if max(map(size, apart.values()), default=-1) < bytes_of(facts, node):
            if any(nameless(facts, number) for number in facts.computing[name]):
                told = False
            else:
                return f"contig {name!r} is computed, and not all of it is in a buffer"
    return None if told else SILENT


def _barriers(facts: Facts) -> bool:
    return any(facts.nodes[name].op == "contig" and not free_nodes.free(facts, name) for name in facts.computing)


def few_buffers(facts: Facts) -> str | None:
    """Find a kernel with more buffers and variables than its device takes."""
    for number, leaf in enumerate(facts.leaves):
        if isinstance(leaf, Kernel):
            most = facts.schedule.devices[leaf.device].most_buffers
            used = len({touch.access.buffer for touch in facts.touches[number]}) + len(leaf.variables)
            if most and used > most:
                return f"{facts.name(number)} is given {used} buffers and variables, and {leaf.device} takes {most}"
    return None


def _limited(facts: Facts) -> bool:
    return any(isinstance(leaf, Kernel) and facts.schedule.devices[leaf.device].most_buffers for leaf in facts.leaves)


def costly_is_kept(facts: Facts) -> str | None:
    """Find a value of more than three buffers that several kernels compute and nobody keeps."""
    for name, numbers in computing(facts).items():
        node = facts.nodes[name]
        several = len(set(numbers)) > 1 and node.op in _ELEMENTWISE and name not in facts.writers
        if several and len(_buffers_of(facts, node)) > 3:
            return f"{len(set(numbers))} items compute {name!r} of {len(_buffers_of(facts, node))} buffers each anew"
    return SILENT if unexplained(facts) else None


def _costly(facts: Facts) -> bool:
    """Speak where a kernel computes an elementwise value, as it says."""
    return any(facts.nodes[name].op in _ELEMENTWISE for name in computing(facts))


def _buffers_of(facts: Facts, node: Node) -> set[str]:
    """Return what a value is computed of that lies in buffers."""
    found: set[str] = set()
    stack = list(node.of)
    while stack:
        at = facts.nodes[stack.pop()]
        if at.op == "buf" or at.id in facts.writers:
            found.add(at.id)
        else:
            stack.extend(at.of)
    return found


def updated_in_one(facts: Facts) -> str | None:
    """Find an assign that only moves a value, of which each element depends on the target's at the same place alone.

    Say nothing beside two items that may be such, of which one does not say what it writes, or has no body.
    """
    told = True
    for number, leaf in enumerate(facts.leaves):
        own = facts.touches[number]
        assigned = [touch for touch in own if touch.write and _may_assign(facts, touch)]
        if len(own) != 2 or len(assigned) != 1 or not isinstance(leaf, Kernel):
            continue
        (target,), (read,) = assigned, [touch for touch in own if touch is not assigned[0]]
        maker = _sole_maker(facts, number, read.access.buffer)
        if maker is None or (leaf.bodies and not moves_only(leaf)):
            continue
        before = facts.leaves[maker]
        bare = not (leaf.bodies and isinstance(before, Kernel) and before.bodies)
        if bare or _same_points(facts, maker, number):
            if not bare and target.access.node is not None and all(names_of(facts, maker)):
                return f"{facts.name(number)} assigns what {facts.name(maker)} could have stored there"
            told = False
    return None if told else SILENT


def _may_assign(facts: Facts, touch: Touch) -> bool:
    """Return whether a write is said to do an assign, or is in the target of one that nobody is said to do."""
    if touch.access.node is not None:
        return facts.nodes[touch.access.node].op == "assign"
    left = (node.id for node in facts.nodes.values() if node.op == "assign" and node.id not in facts.writers)
    return any(touch.root == root and overlap(touch.ranges, taken) for root, taken in map(facts.node_bytes, left))


def _sole_maker(facts: Facts, taker: int, buffer: str) -> int | None:
    """Return the kernel that writes a buffer which only ``taker`` reads, and which nobody sees from outside."""
    graph = facts.schedule.graph
    placed = {facts.home(place.buffer) for place in facts.schedule.places}
    home, found = facts.home(buffer), facts.buffers[buffer]
    users = {n for n, own in enumerate(facts.touches) for each in own if facts.home(each.access.buffer) == home}
    makers = [n for n in users if any(t.write and facts.home(t.access.buffer) == home for t in facts.touches[n])]
    outside = found.preexisting or found.held or found.output or home in placed or graph is None
    if outside or users != {taker, *makers} or len(makers) != 1 or taker in makers:
        return None
    own = [touch for touch in facts.touches[makers[0]] if touch.write]
    named = {facts.nodes[name].op for name in names_of(facts, makers[0]) if name is not None}
    return makers[0] if len(own) == 1 and named <= set(_ELEMENTWISE) and makers[0] < taker else None


def _same_points(facts: Facts, maker: int, taker: int) -> bool:
    """Return whether what the first computes at a point may be stored where the second puts that."""
    first, second = facts.leaves[maker], facts.leaves[taker]
    (made,) = (touch for touch in facts.touches[maker] if touch.write)
    (read,) = (touch for touch in facts.touches[taker] if not touch.write)
    (put,) = (touch for touch in facts.touches[taker] if touch.write)
    if None in (made.access.map, read.access.map) or not isinstance(first, Kernel) or not first.bodies:
        return False
    one, _ = positions(facts, made.access, facts.bound(first))
    other, _ = positions(facts, read.access, facts.bound(second))
    if not np.array_equal(one, other) or not once_each(facts, maker, made) or reduces(facts, maker):
        return False
    there, valid = positions(facts, put.access, facts.bound(second))
    reads = [each for each in facts.touches[maker] if not each.write and each.root == put.root]
    for each in reads:
        if each.access.map is None:
            return False
        at, shown = positions(facts, each.access, facts.bound(first))
        if at.shape != there.shape or not np.array_equal(at, there) or not (valid & shown).all():
            return False
    # Nobody between the two may see the target, or change what the first reads.
    for number in range(maker + 1, taker):
        for touch in facts.touches[number]:
            seen = touch.root == put.root and overlap(touch.ranges, put.ranges)
            changed = touch.write and any(
                touch.root == each.root and overlap(touch.ranges, each.ranges) for each in facts.touches[maker]
            )
            if seen or changed:
                return False
    return bool(reads) and facts.buffers[made.access.buffer].dtype == facts.buffers[put.access.buffer].dtype


_LAZY, _RANGEIFY = "tinygrad.lazy: LazyBuffer.schedule", "tinygrad.schedule: get_kernel_graph"

FUSION = (
    ScheduleClause(
        "fusion.C1",
        "An elementwise value, no result, that a kernel of its own makes and one elementwise kernel alone takes, each "
        "element once, is computed there, unless its buffer is reachable from outside, both need more buffers than "
        "devices take, or the second or an item between writes what the first reads.",
        _RANGEIFY,
        _apart(_elementwise, _ELEMENTWISE, "which computes elementwise too"),
        _follows(_ELEMENTWISE, ("alu", "cast", "bitcast")),
        requirement="should",
    ),
    ScheduleClause(
        "fusion.C2",
        "An elementwise value, no result, that a kernel of its own makes and one reduce alone takes, each element "
        "once, is computed there, unless its buffer is reachable from outside, both need more buffers than the device "
        "takes, or the second or an item between writes what the first reads.",
        _RANGEIFY,
        _apart(_into_reduce, _ELEMENTWISE, "which reduces it"),
        _follows(_ELEMENTWISE, ("reduce",)),
        requirement="should",
    ),
    ScheduleClause(
        "fusion.C3",
        "An elementwise operation that alone takes a reduce with a kernel of its own, each element once, is computed "
        "there, unless the reduce is a result or reachable from outside, both need more buffers than the device takes, "
        "or the second or an item between writes what the first reads.",
        _RANGEIFY,
        _apart(_out_of_reduce, ("reduce",), "which computes elementwise of it"),
        _follows(("reduce",), _ELEMENTWISE),
        requirement="should",
    ),
    ScheduleClause(
        "fusion.C4",
        "No kernel folds the same elements, read from buffers, again at each index of a further axis of its body, "
        "unless it also writes bytes that it reads.",
        _RANGEIFY,
        no_reduce_recomputed,
        some_body(lambda each: any(isinstance(one, Reduce) for one in each.instructions)),
        requirement="may",
    ),
    ScheduleClause(
        "fusion.C5",
        "A reduce of a reduce, between which only movement and elementwise operations on one computed value lie, "
        "is computed by at most two items, unless a buffer holds the first reduce or a value between the two at "
        "the end.",
        _LAZY,
        few_kernels_for_two_reduces,
        both(traced, lambda facts: any(_nested(facts))),
        requirement="may",
    ),
    ScheduleClause(
        "fusion.C6",
        "A contig node that an item computes has all its elements in one buffer, unless its value is assigned, it "
        "has no elements or only constant ones, or its source is another contig node or a whole buffer that "
        "nothing assigns to afterwards (`no_kernel.C5`).",
        _LAZY,
        kept_as_asked,
        both(labelled, _barriers),
        requirement="may",
    ),
    ScheduleClause(
        "fusion.C7",
        "A kernel is given at most as many buffers and variables, counted together and without local memory, as "
        "its device takes. A device that states no number takes any.",
        _RANGEIFY,
        few_buffers,
        _limited,
    ),
    ScheduleClause(
        "fusion.C8",
        "No elementwise node that is computed from more than three buffers is computed by more than one kernel, "
        "unless one of them keeps its value in a buffer.",
        _RANGEIFY,
        costly_is_kept,
        _costly,
        requirement="may",
    ),
    ScheduleClause(
        "fusion.C9",
        "An assign of an elementwise value that is no result and nothing else takes, each element of which "
        "depends on the target at its own place alone, is done by the kernel that computes the value, unless an "
        "item between touches the target or writes what it is computed of.",
        _RANGEIFY,
        updated_in_one,
        lambda facts: any(facts.nodes[name].op == "assign" for name in facts.writers),
        requirement="should",
    ),
)
