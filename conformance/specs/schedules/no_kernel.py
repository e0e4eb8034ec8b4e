"""What no kernel and no copy is needed for. An item makes a node where it says that it writes the node's value.

A needless kernel costs time and changes no value, so all but one of these are *should*: a constant result may be
filled, and a view materialised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import ScheduleClause
from conformance.reference.schedule.facts import Facts
from conformance.specs.schedules.facts import free_nodes
from conformance.specs.schedules.facts.free_nodes import Reason
from conformance.specs.schedules.facts.labels import hidden, said
from conformance.specs.schedules.facts.subjects import Subject, both, labelled, some_buffer

_MEETINGS: Final = ("all_reduce", "collective")
"""What takes blocks that lie in buffers, on the devices of all members."""


def _never(reason: Reason, what: str) -> Callable[[Facts], str | None]:
    def check(facts: Facts) -> str | None:
        for name, written in said(facts).items():
            if reason(facts, facts.nodes[name]):
                return f"{facts.name(written[0][0])} is made for {name!r}, {what}"
        # A write that says nothing, of as many bytes, may be such a value.
        return SILENT if hidden(facts, [node.id for node in facts.nodes.values() if reason(facts, node)]) else None

    return check


def _unforced(reason: Reason) -> Reason:
    return lambda facts, node: node.arg is not True and reason(facts, node)


def _takers(facts: Facts, node: Node) -> set[str]:
    return {other.op for other in facts.nodes.values() if node.id in other.of}


def _taken_from_a_buffer(facts: Facts, node: Node) -> bool:
    """Return whether what takes a node reads a buffer: any other copy of a constant is needless, as C14 says."""
    forced = any(node.id in other.of and other.op == "copy" and other.arg is True for other in facts.nodes.values())
    return forced or not _takers(facts, node).isdisjoint(_MEETINGS)


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
    return not scattered or _takers(facts, node).isdisjoint({"copy", *_MEETINGS})


def _nothing_empty(facts: Facts) -> str | None:
    for number, own in enumerate(facts.touches):
        for touch in own:
            if touch.write and not facts.buffers[touch.access.buffer].size:
                return f"{facts.name(number)} writes {touch.access.buffer!r}, which has no byte"
    return _never(free_nodes.empty, "which has no element")(facts)


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
    return some_buffer(lambda each: not each.size)(facts) or _any(free_nodes.empty)(facts)


def _any(reason: Reason) -> Subject:
    """Speak of nodes of a kind, where writes say which values they are."""
    return both(labelled, lambda facts: any(reason(facts, node) for node in facts.nodes.values()))


def _clause(number: int, text: str, source: str, reason: Reason, what: str) -> ScheduleClause:
    return ScheduleClause(f"no_kernel.C{number}", text, source, _never(reason, what), _any(reason), "should")


NO_KERNEL = (
    _clause(
        1,
        "No item makes a constant, nor movement, conversions and elementwise operations of constants alone, "
        "unless a collective or a forced copy takes the value.",
        "tinygrad.lazy: LazyBuffer.schedule",
        _constant,
        "which is constant",
    ),
    _clause(
        2,
        "No item makes the value of a buffer that held its data before the schedule.",
        "tinygrad.lazy: LazyBuffer.schedule",
        free_nodes.realised,
        "which is there already",
    ),
    _clause(
        3,
        "No item makes a view of a buffer by movement that adds no zeros, unless a copy or a collective takes the "
        "view and its elements are not contiguous.",
        "tinygrad.lazy: get_movementroot_contiguous",
        _view,
        "a view of a buffer",
    ),
    _clause(
        4,
        "No item makes a movement whose result has the shape of its source and each element in its place.",
        "tinygrad.lazy: LazyBuffer._movement_op",
        free_nodes.unmoving,
        "which moves nothing",
    ),
    _clause(
        5,
        "No item makes a contig node whose source is the value of another contig node, or all elements of a "
        "buffer from the first to the last, unless that storage is assigned to after the node.",
        "tinygrad.lazy: LazyBuffer.contiguous",
        free_nodes.contiguous_already,
        "which is contiguous already",
    ),
    ScheduleClause(
        "no_kernel.C6",
        "No item computes or copies a value that has no elements, and none writes to a buffer of size 0. Constants, "
        "buffers and assigns without elements are judged by other clauses.",
        "tinygrad.schedule: earliest_rewrites",
        _nothing_empty,
        _any_empty,
        requirement="should",
    ),
    _clause(
        7,
        "No item makes the elements of a reduce over an axis without elements, which are a constant, unless a "
        "collective or a forced copy takes them.",
        "tinygrad.schedule: earliest_rewrites",
        _identity,
        "a reduce over nothing, which is a constant",
    ),
    _clause(
        17,
        "No item makes a reduce of one term for each result, along axes of extent 1 or along none, unless a "
        "narrower dtype that it accumulates in can change the term.",
        "tinygrad.lazy: LazyBuffer.r",
        free_nodes.of_one_term,
        "which folds one term each",
    ),
    _clause(8, "No item makes a detach.", "tinygrad.schedule: earliest_rewrites", free_nodes.detached, "a detach"),
    _clause(
        9,
        "No item fills a buffer that was asked for empty, but for assigns to it.",
        "tinygrad.lazy: create_lazybuffer",
        free_nodes.undefined,
        "an empty buffer",
    ),
    _clause(
        10,
        "No item makes a variable, unless a collective or a forced copy takes it.",
        "tinygrad.lazy: vars_from_ast",
        _variable,
        "a variable",
    ),
    _clause(
        11,
        "No item does an assign of elements of storage to themselves, also by way of contigs and copies for which "
        "nothing moves.",
        "tinygrad.schedule: pm_remove_bufferize",
        free_nodes.itself,
        "which assigns what is there",
    ),
    _clause(
        12,
        "No item does an assign of the elements of a buffer that was asked for empty and that no other assign writes.",
        "tinygrad.schedule: pm_add_buffers",
        free_nodes.of_nothing,
        "which assigns what nobody defined",
    ),
    _clause(
        13,
        "No value is copied to the device that it is on, unless the copy is forced, or is of storage that is "
        "assigned to after the copy.",
        "tinygrad.schedule: earliest_rewrites",
        free_nodes.same_device,
        "a copy to where it is",
    ),
    _clause(
        14,
        "No constant is copied, unless the copy is forced.",
        "tinygrad.schedule: earliest_rewrites",
        _unforced(free_nodes.of_constant),
        "a copy of a constant",
    ),
    _clause(
        15,
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
