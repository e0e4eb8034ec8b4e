"""What items can have seen: the bytes from before the schedule that come to what they write, through whatever items.

Nobody needs to know for that what a kernel computes. A value that changes when only other bytes do is not theirs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace

from conformance.cases.graph.extent import sizes
from conformance.cases.schedule.index_map import Indices
from conformance.cases.tensor.dtypes import NUMPY
from conformance.reference.byte_ranges import NOTHING, common, joined, size, without
from conformance.reference.graph.rounding import BESIDE, UNKNOWN
from conformance.reference.schedule.comparison import differs
from conformance.reference.schedule.data import DRAWS, initial
from conformance.reference.schedule.facts import Facts, Touch
from conformance.reference.schedule.graph import evaluate_graph, worth
from conformance.reference.schedule.memory import Memory

Flow = dict[str, Indices]
"""Bytes of storages that held data at the beginning."""

SEEDS = ((0, DRAWS), (1, DRAWS + 1), (DRAWS, 2))
"""Draws of the data, and draws of what takes the place of those that were not seen."""


@dataclass
class _Content:
    """What each storage holds: the ranges written so far, the last ones last, each with what came to them."""

    facts: Facts
    written: dict[str, list[tuple[Indices, Flow]]] = field(default_factory=dict)

    def taken(self, touch: Touch) -> Flow:
        """Return what comes to whoever reads bytes now."""
        found: Flow = {}
        left = touch.ranges
        for ranges, flow in reversed(self.written.get(touch.root, [])):
            if len(common(left, ranges)):
                _join(found, flow)
                left = without(left, ranges)
        given = common(left, self.facts.given.get(touch.root, NOTHING))
        if len(given):
            _join(found, {touch.root: given})
        return found


def _join(found: Flow, more: Flow) -> None:
    for root, ranges in more.items():
        found[root] = joined(found.get(root, NOTHING), ranges)


def _seen(facts: Facts) -> dict[str, tuple[str, Flow]]:
    """Return for each value that is written as a whole, or is in its place at the end, by whom and what came to it."""
    content, flows = _Content(facts), {}
    for number, own in enumerate(facts.touches):
        flow: Flow = {}
        for touch in own:
            if not touch.write:
                _join(flow, content.taken(touch))
        flows[number] = flow
        for touch in own:
            if touch.write and len(touch.ranges):
                content.written.setdefault(touch.root, []).append((touch.ranges, flow))
    found: dict[str, tuple[str, Flow]] = {}
    for name, written in facts.writers.items():
        if sum(size(touch.ranges) for _, touch in written) >= _bytes(facts, name) > 0:
            whole: Flow = {}
            for number, _ in written:
                _join(whole, flows[number])
            found[name] = facts.name(written[-1][0]), whole
    for name in facts.schedule.graph.results if facts.schedule.graph else ():
        place = facts.place(name)
        if place is not None and name not in facts.stored:
            found[name] = f"buffer {place.access.buffer!r}", content.taken(place)
    return found


def _bytes(facts: Facts, name: str) -> int:
    node = facts.nodes[name]
    return math.prod(sizes(node.shape, facts.values)) * NUMPY[node.dtype].itemsize


def unseen(facts: Facts) -> str | None:
    """Find a value that depends on bytes which whoever is said to make it cannot have seen."""
    for name, (who, flow) in _seen(facts).items():
        for seed, other in SEEDS:
            problem = _depends(facts, name, flow, seed, other)
            if problem:
                return f"{who} is said to hold or make {name!r}, which depends on bytes that did not come to it"
    return None


def _depends(facts: Facts, name: str, flow: Flow, seed: int, other: int) -> bool:
    """Return whether a value changes when only bytes do that are not in ``flow``."""
    graph = facts.schedule.graph
    assert graph is not None
    until = replace(graph, nodes=graph.nodes[: facts.program[name] + 1])
    values = []
    for memory in (initial(facts, seed), _mixed(facts, flow, seed, other)):
        found = evaluate_graph(until, memory, facts.values)
        mask = found.mask(name)
        values.append((worth(found.meanings[name], memory).reshape(-1), mask))
    (one, mask), (another, masked) = values
    either = [each & np.uint8(UNKNOWN | BESIDE) for each in (mask, masked) if each is not None]
    shown = np.asarray(np.bitwise_or.reduce(either) > 0) if either else None
    return differs(one, another, rounded=shown) is not None


def _mixed(facts: Facts, flow: Flow, seed: int, other: int) -> Memory:
    """Return memory with the data of ``other`` in all bytes that are not in ``flow``."""
    kept, made = initial(facts, seed), initial(facts, other)
    for root, ranges in flow.items():
        for start, stop in ranges:
            made.storages[root][start:stop] = kept.storages[root][start:stop]
    return made
