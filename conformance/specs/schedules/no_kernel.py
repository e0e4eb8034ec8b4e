"""What no kernel and no copy is needed for. An item makes a node where it says that it writes the node's value.

A needless kernel costs time and changes no value, so all but one of these are *should*: a constant result may be
filled, and a view materialised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import ScheduleClause
from conformance.judging.schedules.facts import free_nodes
from conformance.judging.schedules.facts.free_nodes import Reason
from conformance.judging.schedules.facts.labels import hidden, said
from conformance.judging.schedules.facts.subjects import Subject, both, labelled, some_buffer
from conformance.reference.schedule.facts import Facts

_MEETINGS: Final = ("all_reduce", "collective")
"""What takes blocks that lie in buffers, on the devices of all members."""


def _never(reason: Reason, what: str) -> Callable[[Facts], str | None]:
    def check(facts: Facts) -> str | None:
        found = said(facts)
        perhaps = [node.id for node in facts.nodes.values() if reason(facts, node)]
        for name in [name for name in perhaps if name in found]:
            made = _made(facts, name)
            if made == name or made in found or free_nodes.free(facts, made):
                return f"{facts.name(found[name][0][0])} is made for {name!r}, {what}"
            perhaps.append(made)
        # A write that says nothing, of as many bytes, may be such a value, or one that is handed on needlessly.
        return SILENT if hidden(facts, perhaps) else None

    return check


def _made(facts: Facts, name: str) -> str:
    """Return the node whose value a node has, by whatever nodes hand it on: a write of the one may be its write."""
    while (other := free_nodes.alias(facts, facts.nodes[name])) is not None:
        name = other
    return name


def _unforced(reason: Reason) -> Reason:
    return lambda facts, node: node.arg is not True and reason(facts, node)


def _takers(facts: Facts, node: Node) -> list[Node]:
    """Return the nodes that take the value of a node, by whatever nodes that only hand it on, as a detach does."""
    names = {node.id}
    for other in facts.nodes.values():
        folds = free_nodes.of_one_term(facts, other) and other.of[0] in names
        if folds or (other.of and free_nodes.alias(facts, other) in names):
            names.add(other.id)
    return [other for other in facts.nodes.values() if names.intersection(other.of)]


def _taken_from_a_buffer(facts: Facts, node: Node) -> bool:
    """Return whether what takes a node reads a buffer: any other copy of a constant is needless, as C14 says."""
    return any(other.op in _MEETINGS or (other.op == "copy" and other.arg is True) for other in _takers(facts, node))


def _constant(facts: Facts, node: Node) -> bool:
    # A reduce over nothing is what C7 speaks of.
    made = free_nodes.constant(facts, node) and not free_nodes.identity(facts, node)
    return made and not _taken_from_a_buffer(facts, node)


def _identity(facts: Facts, node: Node) -> bool:
    return free_nodes.identity(facts, node) and not _taken_from_a_buffer(facts, node)


def _variable(facts: Facts, node: Node) -> bool:
    return free_nodes.variable(facts, node) and not _taken_from_a_buffer(facts, node)


def _view(facts: Facts, node: Node) -> bool:
    if not free_nodes.view(facts, node):
        return False
    at = facts.stored[node.id].at.reshape(-1)
    scattered = bool((np.diff(at) != 1).any())
    return not scattered or all(other.op not in ("copy", *_MEETINGS) for other in _takers(facts, node))


def _nothing_empty(facts: Facts) -> str | None:
    for number, own in enumerate(facts.touches):
        for touch in own:
            if touch.write and not facts.buffers[touch.access.buffer].size:
                return f"{facts.name(number)} writes {touch.access.buffer!r}, which has no byte"
    for number, name in _computing_nothing(facts):
        return f"{facts.name(number)} is made for {name!r}, which has no element"
    return _never(free_nodes.empty, "which has no element")(facts)


def _computing_nothing(facts: Facts) -> Iterator[tuple[int, str]]:
    """Yield the items that say that they compute nodes without elements alone, each with the first of these."""
    for number, leaf in enumerate(facts.leaves):
        nodes = [facts.nodes[name] for name in leaf.provenance]
        others = any(touch.access.node is not None for touch in facts.touches[number] if touch.write)
        if nodes and not others and all(free_nodes.empty(facts, node) for node in nodes):
            yield number, nodes[0].id


def _one_for_each(facts: Facts) -> str | None:
    seen: dict[str, str] = {}
    for node in facts.nodes.values():
        if free_nodes.undefined(facts, node):
            other = seen.setdefault(str(node.arg), node.id)
            if other != node.id:
                return f"{node.id!r} and {other!r}, each asked for empty, are both the buffer {node.arg!r}"
    return None


def _undefined_twice(facts: Facts) -> bool:
    return sum(free_nodes.undefined(facts, node) for node in facts.nodes.values()) > 1


def _any_empty(facts: Facts) -> bool:
    nothing = some_buffer(lambda each: not each.size)(facts) or any(_computing_nothing(facts))
    return nothing or _any(free_nodes.empty)(facts)


def _any(reason: Reason) -> Subject:
    """Speak of nodes of a kind, where writes say which values they are."""
    return both(labelled, lambda facts: any(reason(facts, node) for node in facts.nodes.values()))


def _clause(id: str, text: str, source: str, reason: Reason, what: str) -> ScheduleClause:
    return ScheduleClause(id, text, source, _never(reason, what), _any(reason), "should")


NO_KERNEL = (
    _clause(
        "no_kernel.C1",
        "No item writes to a buffer the value of a constant or of a pad of no elements, nor of movement, conversions "
        "and elementwise operations of these and of reduces of no elements alone, unless a collective or a forced copy "
        "takes the value.",
        "tinygrad.lazy: LazyBuffer.schedule",
        _constant,
        "which is constant",
    ),
    _clause(
        "no_kernel.C2",
        "No item writes the value of a buffer node whose buffer held its data before the schedule, except as the "
        "value of another node, such as a copy, a contig or an assign.",
        "tinygrad.lazy: LazyBuffer.schedule",
        free_nodes.realised,
        "which is there already",
    ),
    _clause(
        "no_kernel.C3",
        "No item writes to a buffer the value of movement of a buffer that adds no zeros, unless a copy or a "
        "collective takes this view and its elements are not contiguous.",
        "tinygrad.lazy: get_movementroot_contiguous",
        _view,
        "a view of a buffer",
    ),
    _clause(
        "no_kernel.C4",
        "No item writes to a buffer the value of a movement, of anything but constants, whose result has the shape of "
        "its source and each element in its place.",
        "tinygrad.lazy: LazyBuffer._movement_op",
        free_nodes.unmoving,
        "which moves nothing",
    ),
    _clause(
        "no_kernel.C5",
        "No item writes to a buffer the value of a contig node whose source is the value of another contig node, or "
        "all elements of a buffer from the first to the last, unless the storage of the source is assigned to after "
        "the node.",
        "tinygrad.lazy: LazyBuffer.contiguous",
        free_nodes.contiguous_already,
        "which is contiguous already",
    ),
    ScheduleClause(
        "no_kernel.C6",
        "No item computes or copies the value of a node that has no elements, constant, buffer and assign nodes "
        "excepted, and none writes to a buffer of size 0.",
        "tinygrad.schedule: earliest_rewrites",
        _nothing_empty,
        _any_empty,
        requirement="should",
    ),
    _clause(
        "no_kernel.C7",
        "No item writes to a buffer the value of a reduce over an axis without elements, which is a constant, unless "
        "a collective or a forced copy takes it.",
        "tinygrad.schedule: earliest_rewrites",
        _identity,
        "a reduce over nothing, which is a constant",
    ),
    _clause(
        "no_kernel.C17",
        "No item writes to a buffer the value of a reduce of one term for each result, along axes whose extent is the "
        "number 1 or along none, unless its dtype or accumulator can change the term, or the storage that it takes is "
        "assigned to after it.",
        "tinygrad.lazy: LazyBuffer.r",
        free_nodes.of_one_term,
        "which folds one term each",
    ),
    _clause(
        "no_kernel.C8",
        "No item writes to a buffer the value of a detach, which is that of its source.",
        "tinygrad.schedule: earliest_rewrites",
        free_nodes.detached,
        "a detach",
    ),
    _clause(
        "no_kernel.C9",
        "No item fills a buffer that the graph asks for empty, but for assigns to it.",
        "tinygrad.lazy: create_lazybuffer",
        free_nodes.undefined,
        "an empty buffer",
    ),
    _clause(
        "no_kernel.C10",
        "No item writes to a buffer the value of a variable, unless a collective or a forced copy takes it.",
        "tinygrad.lazy: vars_from_ast",
        _variable,
        "a variable",
    ),
    _clause(
        "no_kernel.C11",
        "No item does an assign of elements of storage to themselves, also by way of contigs and copies to where the "
        "value is, unless another assign writes to these elements between.",
        "tinygrad.schedule: pm_remove_bufferize",
        free_nodes.itself,
        "which assigns what is there",
    ),
    _clause(
        "no_kernel.C12",
        "No item does an assign whose value is elements of a buffer that was asked for empty and that no other assign "
        "writes, with no zeros of a pad among them.",
        "tinygrad.schedule: pm_add_buffers",
        free_nodes.of_nothing,
        "which assigns what nobody defined",
    ),
    _clause(
        "no_kernel.C13",
        "No value is copied to the device that it is on, unless the copy is forced, or is of storage that is "
        "assigned to after the copy.",
        "tinygrad.schedule: earliest_rewrites",
        free_nodes.same_device,
        "a copy to where it is",
    ),
    _clause(
        "no_kernel.C14",
        "No constant is copied, unless the copy is forced.",
        "tinygrad.schedule: earliest_rewrites",
        _unforced(free_nodes.of_constant),
        "a copy of a constant",
    ),
    _clause(
        "no_kernel.C15",
        "No value is copied back to the device that it was copied from, unless one of the two copies is forced, "
        "or what was copied is storage that is assigned to after the first copy.",
        "tinygrad.lazy: LazyBuffer.copy_to_device",
        free_nodes.there_and_back,
        "a copy back to where it came from",
    ),
    ScheduleClause(
        "no_kernel.C16",
        "Two nodes that each ask for an empty buffer never name the same buffer.",
        "tinygrad.lazy: create_lazybuffer",
        _one_for_each,
        _undefined_twice,
    ),
)
