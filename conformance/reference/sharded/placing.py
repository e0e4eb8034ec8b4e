"""Where ``tinygrad.multi`` would have each value of a program, and what it would refuse."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec.structs import replace

from conformance.cases.graph.graph import Node
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import REPLICATED, Placement
from conformance.cases.sharded.rules import Unmovable, complete, rule


@dataclass(frozen=True)
class Placed:
    """The placement of each node, and why a step would be refused; what follows such a step has its value whole."""

    at: dict[str, Placement] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


def placed(case: ShardedCase) -> Placed:
    """Return where the values of a legal case are."""
    found = Placed()
    nodes = {node.id: node for node in case.of.graph.nodes}
    for node in nodes.values():
        of = [nodes[name] for name in node.of]
        found.at[node.id] = _placed(node, of, found, case)
    return found


def _placed(node: Node, of: list[Node], found: Placed, case: ShardedCase) -> Placement:
    if node.op == "buf":
        return _named(node, found, case)
    if node.op == "copy" or node.id in case.moves:
        return case.moves.get(node.id, REPLICATED)
    at = [found.at[source.id] for source in of]
    if node.op == "assign":
        if complete(at[0]) != complete(at[1]):
            found.refused[node.id] = "the value is placed otherwise than the target"
        return at[0]
    try:
        return rule(node, [shape_of(source) for source in of], [source.dtype for source in of], at, case.mesh).result
    except Unmovable as problem:
        found.refused[node.id] = str(problem)
        return REPLICATED


def _named(node: Node, found: Placed, case: ShardedCase) -> Placement:
    """Return where storage is that a node names in its own shape, or in another one of as many elements."""
    home, shape = case.home(node), case.of.buffers[str(node.arg)].shape
    if shape_of(node) == shape:
        return home
    try:
        return rule(replace(node, op="reshape", arg=None), [shape], [node.dtype], [home], case.mesh).result
    except Unmovable as problem:
        found.refused[node.id] = str(problem)
        return REPLICATED


def shape_of(node: Node) -> tuple[int, ...]:
    """Return the shape of a node, which is of numbers."""
    return tuple(int(dim) for dim in node.shape)
