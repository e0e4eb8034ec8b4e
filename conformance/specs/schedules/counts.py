"""How many kernels a graph takes, how many reduces a kernel has, and how many copies a ring makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from conformance.cases.graph.graph import Graph, Node
from conformance.cases.schedule.kernel_body import Body, Reduce, sources
from conformance.cases.schedule.schedule import Collective, Copy, Kernel
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import ScheduleClause
from conformance.judging.schedules.facts.subjects import bodiless, both, some_body, some_kernel, traced
from conformance.reference.schedule.facts import Facts

_FOR_FREE: Final = ("buf", "var", "param", "detach")
"""Nodes that are there, or mean nothing to a kernel."""


def no_more_than_values(facts: Facts) -> str | None:
    """Find more kernels than one for each value, and one more for each reduce and for each copy."""
    graph = facts.schedule.graph
    assert graph is not None
    most = _values(graph.nodes, graph, {})
    # What a kernel makes of nothing but names of storage is for other clauses.
    names = {node.id for node in graph.nodes if node.op in _FOR_FREE}
    kernels = [own for leaf, own in zip(facts.leaves, facts.touches, strict=True) if isinstance(leaf, Kernel)]
    written = [{touch.access.node for touch in own if touch.write} for own in kernels]
    found = sum(not each or not each <= names for each in written)
    return f"there are {found} kernels for {most} values" if found > most else None


def _values(nodes: Sequence[Node], graph: Graph, known: dict[str, int]) -> int:
    """Return how many values nodes are, those of what they call among them; ``known`` are those of functions."""
    found = 0
    for node in nodes:
        found += 0 if node.op in _FOR_FREE else 2 if node.op in ("copy", "reduce") else 1
        if node.op == "call":
            name = str(node.arg)
            if name not in known:
                known[name] = _values(graph.functions[name].nodes, graph, known)
            found += known[name]
    return found


def _alone(facts: Facts) -> bool:
    """Speak of graphs without collectives: how many kernels those take is for their algorithms."""
    graph = facts.schedule.graph
    functions = graph.functions.values() if graph else ()
    nodes = (*(graph.nodes if graph else ()), *(node for each in functions for node in each.nodes))
    return graph is not None and all(node.op not in ("all_reduce", "collective") for node in nodes)


def one_reduce_at_a_time(facts: Facts) -> str | None:
    """Find a body with two reduces of which neither takes the other; say nothing beside a kernel without a body."""
    for number, leaf in enumerate(facts.leaves):
        for body in leaf.bodies if isinstance(leaf, Kernel) else ():
            if _apart(body):
                return f"{facts.name(number)} computes two reduces, and neither takes what the other gives"
    return SILENT if bodiless(facts) else None


def _apart(body: Body) -> bool:
    above: list[set[int]] = []
    for each in body.instructions:
        above.append({at for source in sources(each) for at in (source, *above[source])})
    reduces = [number for number, each in enumerate(body.instructions) if isinstance(each, Reduce)]
    return any(one not in above[other] for one, other in combinations(reduces, 2))


def _rings(facts: Facts) -> Iterator[tuple[Collective, int]]:
    """Yield the all_reduces that are rings of several, each with its copies between devices."""
    for item in facts.schedule.items:
        ring = isinstance(item, Collective) and item.op == "all_reduce" and item.algorithm == "ring"
        if ring and item.parts and len(item.participants) > 1:  # type: ignore[union-attr]
            assert isinstance(item, Collective)
            yield item, sum(isinstance(part, Copy) for part in item.parts)


def ring_counted(facts: Facts) -> str | None:
    """Find a ring whose copies are not 2(n-1) for each of at most n chunks."""
    for item, copies in _rings(facts):
        members = len(item.participants)
        chunks, left = divmod(copies, 2 * (members - 1))
        if left or chunks > members:
            return f"item {item.id!r}, a ring of {members}, makes {copies} copies"
    return None


COUNTS: Final = (
    ScheduleClause(
        "fusion.C10",
        "For a graph without collectives there are at most as many kernels as nodes, where each call adds those of "
        "its function, each copy and each reduce counts twice, and buffers, variables, parameters, detaches, and "
        "kernels said to make nothing else, count nothing.",
        "tinygrad.lazy: OPT",
        no_more_than_values,
        both(traced, both(some_kernel(lambda _: True), _alone)),
        requirement="may",
    ),
    ScheduleClause(
        "fusion.C11",
        "Of two folds in one body of a kernel, the later one takes what the earlier one gives, at once or by way "
        "of other instructions.",
        "tinygrad.lazy: _ast_binaryops",
        one_reduce_at_a_time,
        some_body(lambda each: any(isinstance(one, Reduce) for one in each.instructions)),
        requirement="may",
    ),
    ScheduleClause(
        "copies.C12",
        "An all_reduce of n > 1 devices that is given as parts, by the algorithm ring, has 2(n-1) copies for each "
        "of its chunks, of which there are at most n.",
        "tinygrad.multi: all_reduce",
        ring_counted,
        lambda facts: any(_rings(facts)),
        requirement="may",
    ),
)
