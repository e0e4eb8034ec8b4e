"""A program on sharded tensors as one graph over several devices: a node a device for each step, and copies between.

Steps are done part by part where the rules of placement have it so (``cases.sharded.rules``), else on whole tensors on
every device. What comes of it is a graph case that any backend for graphs of several devices can run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from conformance.backends.lowering.assigns import assign
from conformance.backends.lowering.program import Lowering
from conformance.cases.graph.case import GraphCase, Round, asked_key, read_key
from conformance.cases.graph.graph import Graph
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Layout, layout_of
from conformance.cases.sharded.validate import validate_sharded


@dataclass(frozen=True)
class Answer:
    """Where the parts of a result are among those of the lowered case, by device, and of what they are parts.

    ``moved`` are the bytes that the step that makes it moves from device to device; nobody counts those of storage.
    ``size`` are the elements of the whole.
    """

    layout: Layout
    keys: tuple[str | None, ...]
    size: int
    moved: int | None = None


def lowered(case: ShardedCase, *, checked: bool = True) -> tuple[GraphCase, dict[str, Answer]]:
    """Return the graph case that a sharded one is on its devices, and where its results are among that one's.

    Raise ``ValueError`` for a placement that does not fit, with the axis, the bounds and what would be right. What is
    not ``checked``, whose values may be larger than those of a case, is taken for well formed and legal.
    """
    for name, (_, problem) in (validate_sharded(case) if checked else {}).items():
        raise ValueError(f"{name!r}: {problem}")
    work = Lowering(case)
    work.begin()
    answers: dict[str, Answer] = {}
    rounds: list[Round] = []
    moved: dict[str, int] = {}
    for number, each in enumerate(case.of.rounds):
        writes = work.writes(each)
        for node in case.of.listed(number):
            before = work.remote
            if node.op == "assign":
                assign(work, node)
            else:
                work.take(node)
            moved[node.id] = work.remote - before
        asked: list[str] = []
        for name in each.asked:
            before = work.remote
            value = work.value(name)
            added = work.remote - before
            at = layout_of(value.shape, value.at, case.mesh)
            nodes = [None if node is None else node.id for node in value.nodes]
            asked += [node for node in nodes if node is not None]
            keys = tuple(None if node is None else asked_key(number, node) for node in nodes)
            answers[asked_key(number, name)] = Answer(at, keys, math.prod(value.shape), moved[name] + added)
        read: list[str] = []
        for name in each.read:
            held_by = work.storages[name]
            parts = [None if node is None else str(node.arg) for node in held_by.nodes]
            read += [part for part in parts if part is not None]
            keys = tuple(None if part is None else read_key(number, part) for part in parts)
            at = layout_of(held_by.shape, held_by.at, case.mesh)
            answers[read_key(number, name)] = Answer(at, keys, math.prod(held_by.shape))
        once = tuple(dict.fromkeys(asked))
        rounds.append(Round(until=len(work.nodes), writes=writes, asked=once, read=tuple(read)))
    results = tuple(dict.fromkeys(name for each in rounds for name in each.asked))
    graph = Graph(nodes=tuple(work.nodes), results=results)
    return GraphCase(graph=graph, buffers=work.buffers, rounds=tuple(rounds)), answers
