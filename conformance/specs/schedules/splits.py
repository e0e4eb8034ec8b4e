"""Reduces that are split: folds of parts of the terms first, and a fold of those."""

from __future__ import annotations

import math

from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Node
from conformance.cases.graph.promotion import promoted
from conformance.cases.schedule.body_form import dtypes_of
from conformance.cases.schedule.kernel_body import Reduce
from conformance.cases.schedule.schedule import Kernel
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import ScheduleClause
from conformance.reference.byte_ranges import size
from conformance.reference.schedule.facts import Facts

THRESHOLD = 32768
"""Terms of one result from which on a reduce is split."""

FEWEST, MOST, LARGEST = 8, 256, 1 << 22
"""Parts of a split reduce, and the elements of all of them: measured by the source's authors."""


def _split(facts: Facts) -> bool:
    return bool(facts.partial)


def only_what_is_long(facts: Facts) -> str | None:
    """Find a split reduce of few terms, or of how many nobody knows."""
    for name, written in facts.partial.items():
        node, source = facts.nodes[name], facts.nodes[facts.nodes[name].of[0]]
        if any(isinstance(extent, str) for extent in source.shape):
            return f"{facts.name(written[0][0])} splits {name!r}, whose shape is symbolic"
        terms = math.prod(sizes(source.shape, {})) // max(math.prod(sizes(node.shape, {})), 1)
        if terms < THRESHOLD:
            return f"{facts.name(written[0][0])} splits {name!r}, whose results have {terms} terms each"
    return None


def parts_in_bounds(facts: Facts) -> str | None:
    """Find a split reduce of too few or too many parts, or of parts that are too large together."""
    for name, written in facts.partial.items():
        count = math.prod(sizes(facts.nodes[name].shape, facts.values))
        for number, touch in written:
            parts = touch.access.parts
            if not FEWEST <= parts <= MOST or parts * count > LARGEST:
                return f"{facts.name(number)} splits {name!r} into {parts} parts of {count} elements"
    return None


def parts_are_wide(facts: Facts) -> str | None:
    """Find parts of a reduce in a narrower dtype than the one that it accumulates in."""
    for name, written in facts.partial.items():
        node = facts.nodes[name]
        for number, touch in written:
            found, wanted = facts.buffers[touch.access.buffer].dtype, node.acc or node.dtype
            if not holds(found, wanted):
                return f"{facts.name(number)} keeps parts of {name!r}, which folds in {wanted}, as {found}"
    return None


def holds(wide: str, narrow: str) -> bool:
    """Return whether a dtype is another one, or a wider one of its kind."""
    return kind(wide) == kind(narrow) and promoted((wide, narrow)) == wide


def as_many_as_said(facts: Facts) -> str | None:
    """Find parts of a reduce that are not as many elements as its parts have."""
    for name, written in facts.partial.items():
        count = math.prod(sizes(facts.nodes[name].shape, facts.values))
        for buffer in {touch.access.buffer for _, touch in written}:
            own = [(number, touch) for number, touch in written if touch.access.buffer == buffer]
            width = NUMPY[facts.buffers[buffer].dtype].itemsize
            elements = sum(size(touch.ranges) for _, touch in own) // width
            parts = own[0][1].access.parts
            if elements != parts * count:
                return f"{facts.name(own[0][0])} keeps {elements} elements for {parts} parts of {name!r} of {count}"
    return None


def folded_wide(facts: Facts) -> str | None:
    """Find a kernel that folds, anywhere, what a reduce accumulates in a wider dtype.

    A narrow fold may be that of another reduce that the kernel computes, which accumulates in no wider dtype.
    """
    unseen = False
    for name, numbers in _folding(facts).items():
        node = facts.nodes[name]
        for number in numbers:
            leaf = facts.leaves[number]
            unseen |= isinstance(leaf, Kernel) and not leaf.bodies
            for body in leaf.bodies if isinstance(leaf, Kernel) else ():
                assert isinstance(leaf, Kernel)
                dtypes = dtypes_of(body, leaf, facts.buffers)
                folds = [each for each in body.instructions if isinstance(each, Reduce) and each.op == node.fold]
                found = [each.acc or dtypes[each.of] for each in folds]
                narrow = [dtype for dtype in found if not holds(dtype, node.acc)]
                excused = [each for each in _others(facts, leaf, node) if any(holds(d, each) for d in narrow)]
                if narrow and (len(narrow) == len(found) or len(narrow) > len(excused)):
                    return f"{facts.name(number)} folds {name!r} in {narrow[0]}, and it accumulates in {node.acc}"
    return SILENT if unseen else None


def _folding(facts: Facts) -> dict[str, list[int]]:
    """Return the reduces that name a dtype to accumulate in, each with who is said to write or compute it."""
    found: dict[str, list[int]] = {}
    for node in (each for each in facts.nodes.values() if each.op == "reduce" and each.acc):
        written = [number for kept in (facts.writers, facts.partial) for number, _ in kept.get(node.id, ())]
        found[node.id] = list(dict.fromkeys((*written, *facts.computing.get(node.id, ()))))
    return found


def _others(facts: Facts, leaf: Kernel, node: Node) -> list[str]:
    """Return the dtypes that other reduces of one fold accumulate in, which a kernel says that it computes.

    Of one that does not say what it computes they are those on the way to a node.
    """
    before, stack = set(), list(node.of)
    while stack:
        at = facts.nodes[stack.pop()]
        if at.id not in before:
            before.add(at.id)
            stack += at.of
    computed = {*leaf.provenance} - {node.id} if leaf.provenance else before - set(facts.writers)
    folds = [facts.nodes[name] for name in computed if facts.nodes[name].op == "reduce"]
    return [each.acc or each.dtype for each in folds if each.fold == node.fold]


SPLITS = (
    ScheduleClause(
        "splits.C1",
        "A reduce is split into parts only where each of its elements has at least 32768 terms and no extent of "
        "its source is a variable.",
        "tinygrad.schedule: split_reduceop",
        only_what_is_long,
        _split,
        requirement="may",
    ),
    ScheduleClause(
        "splits.C5",
        "A split reduce has 8 to 256 parts, and what all its parts are folded to has at most 4194304 elements "
        "together.",
        "tinygrad.schedule: split_reduceop",
        parts_in_bounds,
        _split,
        requirement="may",
    ),
    ScheduleClause(
        "splits.C2",
        "What the parts of a split reduce are folded to is kept in the dtype that the reduce accumulates in, or "
        "in a wider one of its kind: integer, float or complex.",
        "tinygrad.schedule: split_reduceop",
        parts_are_wide,
        _split,
        requirement="should",
    ),
    ScheduleClause(
        "splits.C3",
        "A split reduce keeps in a buffer, for each of its parts, as many elements as the value of the reduce has.",
        "tinygrad.schedule: split_reduceop",
        as_many_as_said,
        _split,
        requirement="should",
    ),
    ScheduleClause(
        "splits.C4",
        "A kernel that computes a reduce which names a dtype to accumulate in folds its terms in that dtype, or "
        "in a wider one of its kind: integer, float or complex.",
        "tinygrad.schedule: split_reduceop",
        folded_wide,
        lambda facts: any(_folding(facts).values()),
        requirement="should",
    ),
)
