"""Collectives begin early, and what needs their results comes late: computation stands between where there is some.

Collectives stay in the order in which they are called, of whatever group, so that estimates decide nothing that all
ranks must agree on: only which computation comes before the next collective, and which after it. A collective is raised
before all computation that it does not need. What needs one that is under way is sunk behind what does not, for as long
as it is estimated to take.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Hashable, Sequence
from itertools import groupby

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Computed, Node, Write, needs
from conformance.backends.opencl.schedule.order import Turns, readers

Staged = list[tuple[Node, int]]
"""Nodes in order, each with the barriers before it."""

Estimate = Callable[[Sequence[Node]], float]
"""How long it takes to compute some nodes, in any unit."""


def moved_bytes(nodes: Sequence[Node]) -> float:
    """Estimate by the bytes that are read and written: most of what is computed waits for memory."""
    return float(sum(_bytes(node) + sum(map(_bytes, needs(node))) for node in nodes))


def drawn(seed: int) -> Estimate:
    """Return estimates that say nothing: random ones."""
    draw = random.Random(seed)  # noqa: S311 - which estimates are drawn is no secret
    return lambda _nodes: draw.random()


def overlapped(order: Staged, turns: Turns, estimate: Estimate = moved_bytes) -> Staged:
    """Return the nodes of ``order`` with computation moved behind collectives, each still after what it needs.

    What belongs to one group of one call stays in a row, and so do stages.
    """
    found: Staged = []
    for stage, several in groupby(order, key=lambda pair: pair[1]):
        nodes = [node for node, _ in several]
        found += [(node, stage) for node in _Stage(nodes, turns, estimate).scheduled()]
    return found


class _Stage:
    """The nodes between two barriers in units that stay together: a call of a group, the stores of a launch, a node."""

    def __init__(self, nodes: Sequence[Node], turns: Turns, estimate: Estimate) -> None:
        units: dict[Hashable, list[Node]] = {}
        for node in nodes:
            units.setdefault(_unit(node, turns), []).append(node)
        self.nodes, self.units = nodes, list(units.values())
        self.calls = [number for number, unit in enumerate(self.units) if unit[0] in turns]
        self.costs = [estimate(unit) for unit in self.units]
        place = {node: number for number, unit in enumerate(self.units) for node in unit}
        behind = readers(nodes)
        self.after = [
            {place[each] for node in unit for each in (*needs(node), *behind.get(node, ())) if each in place} - {number}
            for number, unit in enumerate(self.units)
        ]
        # A result is written straight into its target if whoever reads what is there has done so (``elision.copies``).
        meets = frozenset(self.calls)
        for write in (node for node in nodes if isinstance(node, Write) and place.get(node.value.node) in meets):
            call = place[write.value.node]
            for each in {place[node] for node in (write.before, *behind[write]) if node in place} - {call}:
                if call not in self._needed(each):
                    self.after[call].add(each)

    def scheduled(self) -> Sequence[Node]:
        """Return the nodes in order; as they were if units wait for each other."""
        if not self.calls:
            return self.nodes
        users: list[list[int]] = [[] for _ in self.units]
        for number, after in enumerate(self.after):
            for each in after:
                users[each].append(number)
        waits = [len(after) for after in self.after]
        left, meets = list(reversed(self.calls)), frozenset(self.calls)
        done, order = dict[int, float](), dict[int, None]()
        # When the last collective that a unit needs is done, of those that nothing else keeps.
        ready = dict.fromkeys((number for number, count in enumerate(waits) if not count), 0.0)
        computing = {number: 0.0 for number in ready if number not in meets}
        soon = self._needed(left[-1])
        clock = busy = 0.0
        while ready:
            if left and left[-1] in ready:
                chosen = left.pop()
                soon = self._needed(left[-1], order) if left else frozenset()
                busy = done[chosen] = max(busy, clock, ready[chosen]) + self.costs[chosen]
            elif computing:
                # What waits least, of that what the next collective needs, of that what comes first.
                chosen = min(computing, key=lambda one: (max(computing[one], clock), one not in soon, one))
                clock = max(clock, computing.pop(chosen)) + self.costs[chosen]
            else:
                break
            del ready[chosen]
            order[chosen] = None
            for each in users[chosen]:
                waits[each] -= 1
                if not waits[each]:
                    ready[each] = max((done[one] for one in self.after[each] if one in done), default=0.0)
                    if each not in meets:
                        computing[each] = ready[each]
        whole = len(order) == len(self.units)
        return [node for number in order for node in self.units[number]] if whole else self.nodes

    def _needed(self, number: int, gone: Collection[int] = ()) -> frozenset[int]:
        """Return all that must be done before a unit, but for what is ``gone`` and what that needs."""
        found: set[int] = set()
        stack = [number]
        while stack:
            fresh = {each for each in self.after[stack.pop()] if each not in found and each not in gone}
            found |= fresh
            stack += fresh
        return frozenset(found)


def _unit(node: Node, turns: Turns) -> Hashable:
    turn = turns.get(node)
    if turn is not None:
        return turn[:2]
    return node.launch if isinstance(node, Computed) else node


def _bytes(node: Node) -> int:
    return node.size * FORMATS[node.dtype].itemsize
