"""The meaning of a schedule's graph on drawn data, with bounds where that is asked for, kept for the next clause.

The bounds are those of graph cases (``reference.graph.slack``). No number model is declared here, so that nothing is
known of what one might choose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np
from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer
from conformance.cases.tensor.dtypes import Array
from conformance.reference.graph.bounds import Reals
from conformance.reference.graph.carried import CHOSEN
from conformance.reference.graph.evaluate import BoundedValue, take, value_of
from conformance.reference.graph.evaluate import Evaluation as Bounded
from conformance.reference.graph.movement import Stored
from conformance.reference.graph.rounding import BESIDE
from conformance.reference.graph.slack import exact, radius
from conformance.reference.schedule.data import SMALL, initial
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.graph import Evaluation, evaluate_graph
from conformance.reference.schedule.memory import POISON, Memory

OTHER: Final = 0
"""What may lie in bytes that nothing defined instead of ``POISON``."""


def eager(facts: Facts, seed: int = 0, poison: int = POISON) -> Evaluation:
    """Return the meaning of the graph, with the memory that eager evaluation leaves; of small ones it is kept.

    The memory may be that of another schedule of the same graph: all that the graph names lies there too.
    """
    graph = facts.schedule.graph
    assert graph is not None
    if facts.like is not None and _same_question(facts, facts.like):
        return eager(facts.like, seed, poison)
    key = ("eager", seed, poison)
    if key not in facts.kept:
        found = evaluate_graph(graph, initial(facts, seed, poison), facts.values)
        if sum(storage.size for storage in found.memory.storages.values()) > SMALL:
            return found
        facts.kept[key] = found
    known = facts.kept[key]
    assert isinstance(known, Evaluation)
    return known


def _same_question(facts: Facts, other: Facts) -> bool:
    """Return whether both have the same nodes over the same buffers, so that eager evaluation gives the same."""
    key = ("same question", 0, 0)
    if key not in facts.kept:
        facts.kept[key] = _asked_about(facts) == _asked_about(other)
    return bool(facts.kept[key])


def _asked_about(facts: Facts) -> tuple[bytes, list[tuple[Buffer, str, int]]]:
    """Return the nodes, with the values of variables, and whatever lies in the storages that they name."""
    graph = facts.schedule.graph
    assert graph is not None
    inner = [node for function in graph.functions.values() for node in function.nodes]
    named = {facts.root(str(node.arg))[0] for node in (*graph.nodes, *inner) if node.op == "buf"}
    beside = [(buffer, *facts.root(buffer.id)) for buffer in facts.schedule.buffers]
    return msgspec.json.encode(replace(graph, results=())), [each for each in beside if each[1] in named]


def otherwise(facts: Facts, right: Evaluation, seed: int) -> Evaluation:
    """Return the meaning of the graph where other bytes lie in what nothing defined: what changes is not defined."""
    undefined = [node for node in right.graph.nodes if node.op == "buf" and not facts.is_given(str(node.arg))]
    return eager(facts, seed, OTHER) if undefined else right


def reach(facts: Facts, seed: int) -> Reach | None:
    """Return the graph evaluated with bounds, which is kept; of a large one on the last draw alone."""
    if facts.like is not None and _same_question(facts, facts.like):
        return reach(facts.like, seed)
    key = ("reach", seed, 0)
    if key not in facts.kept:
        memory = initial(facts, seed)
        if sum(storage.size for storage in memory.storages.values()) > SMALL:
            for other in [each for each in facts.kept if each[0] == "reach"]:
                del facts.kept[other]
        facts.kept[key] = _bounded(facts, memory)
    known = facts.kept[key]
    assert known is None or isinstance(known, Reach)
    return known


@dataclass(frozen=True)
class Reach:
    """A graph that was evaluated with bounds."""

    within: Bounded

    def of(self, place: str | Stored) -> Reals:
        """Return how far each element of a node, or of what is stored, may be from its value; infinity: anywhere."""
        meaning = place if isinstance(place, Stored) else self.within.meanings[place]
        found = value_of(meaning, self.within)
        chosen = (found.slack.mask & np.uint16(BESIDE | CHOSEN)) > 0
        return np.where(chosen, np.inf, radius(found.slack, found.array))


def _bounded(facts: Facts, memory: Memory) -> Reach | None:
    """Evaluate the graph with bounds on memory as it is at the beginning; ``None`` where buffers share storage."""
    graph = facts.schedule.graph
    assert graph is not None
    inner = [node for function in graph.functions.values() for node in function.nodes]
    named = sorted({str(node.arg) for node in (*graph.nodes, *inner) if node.op == "buf"})
    if len({facts.root(name)[0] for name in named}) < len(named):
        return None
    within = Bounded(graph, {name: _given(memory.array(name)) for name in named}, facts.values)
    for node in graph.nodes:
        take(node, within)
    return Reach(within)


def _given(array: Array) -> BoundedValue:
    held = np.array(array)
    return BoundedValue(held, exact(held))
