"""Movement of computed values: index maps of who takes it, not kernels."""

from __future__ import annotations

import math

import numpy as np

from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import MOVEMENT
from conformance.cases.schedule.schedule import Access, Kernel
from conformance.cases.tensor.dtypes import NUMPY
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import ScheduleClause
from conformance.judging.schedules.facts import free_nodes
from conformance.judging.schedules.facts.kernels import filled, moved
from conformance.judging.schedules.facts.labels import hidden, said
from conformance.judging.schedules.facts.pairs import BARRIERS, between, perhaps_between
from conformance.judging.schedules.facts.subjects import both, labelled
from conformance.reference.graph.movement import moved as of_values
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.points import positions


def _takers(facts: Facts, name: str) -> list[str]:
    return [node.op for node in facts.nodes.values() if name in node.of]


def _moves_values(facts: Facts, name: str) -> bool:
    """Return whether a node is movement of what was computed, not of storage or of constants."""
    node = facts.nodes[name]
    return node.op in MOVEMENT and name not in facts.stored and name not in facts.constants


def _moved_from(facts: Facts, name: str) -> str:
    """Return what a movement is of, below all movement: who keeps a part of that frees the rest."""
    while facts.nodes[name].op in MOVEMENT:
        name = facts.nodes[name].of[0]
    return name


def _loaded(leaf: Kernel, written: Access) -> Access | None:
    """Return the access by which a kernel that only loads and stores loads what it stores by another."""
    return next((read for read, write in moved(leaf) if write is written), None)


def _only_moves(facts: Facts, leaf: Kernel) -> bool:
    """Return whether a kernel may do no more than to move, as far as it says what it computes."""
    return all(facts.nodes[name].op in MOVEMENT for name in leaf.provenance)


def handed_on(facts: Facts) -> str | None:
    """Find a kernel that stores a computed value once more, in the order that it has.

    Of a kernel without a body that may do so nothing is said.
    """
    told = True
    for name, written in said(facts).items():
        if not _moves_values(facts, name) or set(BARRIERS).intersection(_takers(facts, name)):
            continue
        for number, touch in written:
            leaf = facts.leaves[number]
            if not isinstance(leaf, Kernel):
                continue
            told &= bool(leaf.bodies) or not _only_moves(facts, leaf)
            read = _loaded(leaf, touch.access)
            if read is not None and _as_it_lies(facts, name, number, read, touch.access):
                return f"{facts.name(number)} stores {name!r}, in the order in which {facts.nodes[name].of[0]!r} lies"
    return _untold(facts) if told else SILENT


def _as_it_lies(facts: Facts, name: str, number: int, read: Access, written: Access) -> bool:
    """Return whether what a kernel reads is all of the value that a node moves, and is written in the same order."""
    if read.map is None or written.map is None:
        return False
    source, shown = positions(facts, read, facts.bound(facts.leaves[number]))
    target, _ = positions(facts, written, facts.bound(facts.leaves[number]))
    base = facts.nodes[_moved_from(facts, name)]
    if source.size != math.prod(sizes(base.shape, facts.values)) or not source.size or not shown.all():
        return False
    # What comes of a larger value by an operation that changes nothing, as times 1, is a part of that. Where there are
    # variables a buffer may be written up to its greatest size.
    most = filled(facts, read.buffer) // NUMPY[base.dtype].itemsize
    whole = bool(facts.values) or source.size == most or _written_there(facts, base.id, number, read)
    return whole and len(np.unique(source - target)) == 1


def _written_there(facts: Facts, base: str, number: int, read: Access) -> bool:
    """Return whether an item before wrote a value, or movement of it, to just the bytes that are read."""
    own = facts.touch(read, facts.bound(facts.leaves[number]))
    return any(
        before < number and touch.root == own.root and np.array_equal(touch.ranges, own.ranges)
        for name, written in said(facts).items()
        if _moved_from(facts, name) == base
        for before, touch in written
    )


def chain_kept(facts: Facts) -> str | None:
    """Find movement in a buffer that only further movement takes."""
    asked = {*(facts.schedule.graph.results if facts.schedule.graph else ())}
    asked.update(place.node for place in facts.schedule.places)
    for name, written in said(facts).items():
        takers = _takers(facts, name)
        if _moves_values(facts, name) and takers and set(takers) <= set(MOVEMENT) and not _shown(facts, name, asked):
            return f"{facts.name(written[0][0])} stores {name!r}, which only other movement takes"
    return _untold(facts)


def _shown(facts: Facts, name: str, asked: set[str]) -> bool:
    """Return whether a value is asked for or computed with, or other movement that has the same elements of its base.

    Movement that together moves nothing has, and the flip of an axis along which all elements are one.
    """
    base = _moved_from(facts, name)
    shape = sizes(facts.nodes[base].shape, facts.values)
    known = {base: np.arange(math.prod(shape)).reshape(shape)}
    for node in facts.nodes.values():
        if node.op in MOVEMENT and node.op != "detach" and node.of[0] in known:
            known[node.id] = of_values(node, known[node.of[0]], -1, facts.values)
        elif node.op != "buf" and free_nodes.alias(facts, node) in known:
            known[node.id] = known[str(free_nodes.alias(facts, node))]
    kept = known[name].reshape(-1)
    same = [each for each, at in known.items() if each != base and np.array_equal(at.reshape(-1), kept)]
    return any(each in asked or not set(_takers(facts, each)) <= set(MOVEMENT) for each in same)


def moved_apart(facts: Facts) -> str | None:
    """Find movement in a buffer that one kernel takes, which computes with it."""
    for each in between(facts):
        takers = _takers(facts, each.node.id)
        if each.node.id in facts.constants or each.node.op not in MOVEMENT or set(takers) & set(MOVEMENT):
            continue
        if _moves_values(facts, each.node.id):
            return f"{facts.name(each.maker)} stores {each.node.id!r} for {facts.name(each.taker)} alone"
    if any(_moves_values(facts, each.node.id) for each in perhaps_between(facts)):
        return SILENT
    return _untold(facts)


def _untold(facts: Facts) -> str | None:
    """Return ``SILENT`` where a write that says nothing may be movement of a computed value."""
    return SILENT if hidden(facts, [name for name in facts.nodes if _moves_values(facts, name)]) else None


def _moved(facts: Facts) -> bool:
    return any(_moves_values(facts, name) for name in facts.nodes)


def _moved_twice(facts: Facts) -> bool:
    return any(
        _moves_values(facts, name) and facts.nodes[facts.nodes[name].of[0]].op in MOVEMENT for name in facts.nodes
    )


MOVED = (
    ScheduleClause(
        "movement.C1",
        "No kernel that only loads and stores puts movement of a computed value, all its elements in the order in "
        "which they lie, into another buffer, unless a contig, a copy, a collective, an assign or a call takes that "
        "movement.",
        "tinygrad.schedule: pm_mops",
        handed_on,
        both(labelled, _moved),
        requirement="should",
    ),
    ScheduleClause(
        "movement.C2",
        "Movement of a computed value that is no result, and that only other movement takes, is not stored, unless "
        "movement with the same elements in the same order is a result or is taken by something else.",
        "tinygrad.lazy: LazyBuffer._movement_op",
        chain_kept,
        both(labelled, _moved_twice),
        requirement="should",
    ),
    ScheduleClause(
        "movement.C3",
        "Movement of a computed value that is no result, and whose elements one other kernel takes, each once, to "
        "compute with, is done by that kernel, unless the two together need more buffers than the device takes, or "
        "storage that the movement's kernel reads is written between them.",
        "tinygrad.schedule: pm_mops",
        moved_apart,
        both(labelled, _moved),
        requirement="should",
    ),
)
