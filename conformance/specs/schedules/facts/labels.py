"""What items write: as they say, or where they do not, as running the schedule shows, and what nobody knows of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import cast

import numpy as np

from conformance.cases.graph.extent import sizes
from conformance.cases.schedule.schedule import Copy, Kernel
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.reference.byte_ranges import size
from conformance.reference.graph.rounding import BESIDE, UNKNOWN
from conformance.reference.schedule.comparison import differs, open_to
from conformance.reference.schedule.data import DRAWS, WIDE_DRAWS, initial
from conformance.reference.schedule.eager import eager
from conformance.reference.schedule.execute import executable
from conformance.reference.schedule.facts import Facts, Touch
from conformance.reference.schedule.graph import Evaluation, worth
from conformance.reference.schedule.memory import Memory, perform

Written = tuple[int, Touch]


def nameless(facts: Facts, number: int) -> bool:
    """Return whether a leaf writes anything without saying what it is."""
    return any(touch.write and touch.access.node is None and len(touch.ranges) for touch in facts.touches[number])


def unexplained(facts: Facts) -> bool:
    """Return whether some kernel outside collectives has neither a body nor provenance, nor says all that it writes."""
    return any(
        isinstance(leaf, Kernel) and owner is None and not (leaf.bodies or leaf.provenance) and nameless(facts, number)
        for number, (leaf, owner) in enumerate(facts.owned)
    )


def said(facts: Facts) -> Mapping[str, list[Written]]:
    """Return who writes the value of each node: as it says, and of a write without a label, as is seen by running."""
    return _known(facts)[0]


def hidden(facts: Facts, names: Iterable[str]) -> bool:
    """Return whether a write of which nobody knows what it is may be the value of one of some nodes."""
    found, unknown = _known(facts)
    for name in names:
        node = facts.nodes[name]
        for _, touch in unknown if name not in found else ():
            same = facts.buffers[touch.access.buffer].device == node.device
            if same and size(touch.ranges) == _bytes(facts, name):
                return True
    return False


def _bytes(facts: Facts, name: str) -> int:
    node = facts.nodes[name]
    return math.prod(sizes(node.shape, facts.values)) * NUMPY[node.dtype].itemsize


def _known(facts: Facts) -> tuple[Mapping[str, list[Written]], list[Written]]:
    """Return who writes what, and the writes outside collectives of which that is not known; found once."""
    key = ("labels", 0, 0)
    if key not in facts.kept:
        open_ = [
            (number, touch)
            for number, (leaf, owner) in enumerate(facts.owned)
            for touch in (facts.touches[number] if owner is None and isinstance(leaf, Kernel | Copy) else ())
            if touch.write and touch.access.node is None and len(touch.ranges)
        ]
        facts.kept[key] = _inferred(facts, open_) if open_ and facts.writers else (facts.writers, open_)
    return cast("tuple[Mapping[str, list[Written]], list[Written]]", facts.kept[key])


def _inferred(facts: Facts, unlabelled: list[Written]) -> tuple[Mapping[str, list[Written]], list[Written]]:
    """Return the labels with those that are told by the bytes of a buffer, or by the numbers of a value."""
    found = {name: list(written) for name, written in facts.writers.items()}
    seen = _matches(facts, unlabelled)
    unknown: list[Written] = []
    for at, (number, touch) in enumerate(unlabelled):
        names = _opened(facts, touch)
        if not names and seen is None:
            unknown.append((number, touch))
        names = names or [name for name in (seen[at] if seen else ()) if name not in facts.writers]
        # Numbers that are no node's are some part of one, and of those that nodes of several kinds have it may be any.
        if names and len({facts.nodes[name].op for name in names}) == 1:
            found.setdefault(names[0], []).append((number, touch))
    return found, unknown


def _opened(facts: Facts, touch: Touch) -> list[str]:
    """Return the buffer that was asked for empty whose bytes a write goes to, though nothing assigns to it."""
    if any(facts.stored_bytes(stored)[0] == touch.root for _, stored in facts.assigned):
        return []
    for node in facts.nodes.values():
        if node.op == "buf" and not facts.is_given(str(node.arg)) and facts.node_bytes(node.id)[0] == touch.root:
            return [node.id]
    return []


def _matches(facts: Facts, unlabelled: list[Written]) -> list[list[str]] | None:
    """Return for each write the computed nodes whose values it has on all data; ``None`` where nothing can be run."""
    if executable(facts) is not None:
        return None
    sizes_of = {name: _bytes(facts, name) for name in facts.nodes if name not in facts.stored}
    left = [
        [
            name
            for name, count in sizes_of.items()
            if count == size(touch.ranges) and facts.nodes[name].device == facts.buffers[touch.access.buffer].device
        ]
        for _, touch in unlabelled
    ]
    for seed in range(DRAWS + WIDE_DRAWS):
        if not any(left):
            break
        right, memory = eager(facts, seed), initial(facts, seed)
        try:
            for number in range(len(facts.leaves)):
                perform(memory, facts.leaves[number], number)
                for at, (own, touch) in enumerate(unlabelled):
                    if own == number:
                        array = _bytes_at(memory, touch)
                        left[at] = [name for name in left[at] if _is(right, name, array)]
        except (ScheduleError, IndexError, ValueError):
            # What cannot be run is the business of other clauses.
            return None
    return left


def _bytes_at(memory: Memory, touch: Touch) -> bytes:
    storage = memory.storages[touch.root]
    return b"".join(storage[start:stop].tobytes() for start, stop in touch.ranges)


def _is(right: Evaluation, name: str, seen: bytes) -> bool:
    meaning = right.meanings[name]
    wanted: Array = worth(meaning, right.memory).reshape(-1)
    array = np.frombuffer(seen, wanted.dtype)
    return differs(array, wanted, None, open_to(right.mask(name), UNKNOWN | BESIDE)) is None
