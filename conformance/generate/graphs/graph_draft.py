"""A graph case in the making: nodes so far, the rounds, and how one value is made to fit another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.tensor.dtypes import kind
from conformance.cases.tensor.tensor import Tensor
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs.data import constant, contents
from conformance.generate.graphs.nodes import GraphNodes, alike


class Swarm(NamedTuple):
    """What a draw may use: dtypes of buffers, operations, folds, kinds of steps, and the regime of its data."""

    dtypes: tuple[str, ...]
    alu: tuple[str, ...]
    folds: tuple[str, ...]
    steps: tuple[str, ...]
    regime: str
    plain: bool


@dataclass
class GraphDraft(GraphNodes):
    """The case so far. ``wanted`` is what this round asks for. Operations are ``mixed`` where dtypes may be."""

    draw: Draw
    swarm: Swarm
    buffers: dict[str, Tensor] = field(default_factory=dict)
    rounds: list[Round] = field(default_factory=list)
    bound: dict[str, int] = field(default_factory=dict)
    writes: dict[str, Tensor] = field(default_factory=dict)
    wanted: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    mixed: bool = True

    def buffer(self, shape: tuple[int, ...], dtype: str, device: str = "d0") -> Node:
        """Add a buffer with its content."""
        name = f"b{len(self.buffers)}"
        self.buffers[name] = self.draw(contents(shape, dtype, self.swarm.regime))
        made = self.add("buf", shape, dtype, device=device, arg=name, id=name)
        self.open.add(made.id)
        return made

    def constant(self, like: Node) -> Node:
        """Add a constant of the shape and dtype of a node."""
        value = constant(self.draw, like.dtype, plain=self.swarm.plain)
        return self.add("const", like.shape, like.dtype, device=like.device, arg=value)

    @property
    def fresh(self) -> set[str]:
        """Return the nodes that this round lists."""
        return {node.id for node in self.nodes[self.rounds[-1].until if self.rounds else 0 :]}

    def usable(self) -> list[Node]:
        """Return the nodes that can be sources, the last ones first."""
        fresh = self.fresh if self.variables else set[str]()
        return [
            node
            for node in reversed(self.nodes)
            if not any(isinstance(dim, str) for dim in node.shape) or node.id in fresh
        ]

    def pick(self) -> Node:
        """Draw a node to go on from, the last ones more often."""
        found = self.usable()
        near = self.draw.source.below(3)
        return found[self.draw.source.below(len(found) if near == 2 else min(len(found), 4))]

    def fitted(self, like: Node, dtype: str = "") -> Node:
        """Draw a node of the shape and device of another, and of a dtype: one that is there, or made to fit."""
        dtype = dtype or like.dtype
        wanted = Node(id="", op="buf", shape=like.shape, dtype=dtype, device=like.device)
        fitting = [node for node in self.usable() if alike(node, wanted)]
        number = self.draw.source.below(6)
        if number < 3 and fitting:
            return fitting[self.draw.source.below(len(fitting))]
        if number == 3 and (found := self._broadcast(like, dtype)) is not None:
            return found
        if number == 4 and fitting:
            return fitting[0]
        if number == 5 and like.shape and kind(dtype) in ("integer", "float"):
            axis = self.draw.source.below(len(like.shape))
            return self.add("iota", like.shape, dtype, device=like.device, arg=axis)
        return self.constant(wanted)

    def _broadcast(self, like: Node, dtype: str) -> Node | None:
        """Return a node that has some of the extents of another at the end, made to its shape."""
        for node in self.usable():
            lead = len(like.shape) - len(node.shape)
            if node.dtype != dtype or node.device != like.device or lead < 0 or node.op in ("const", "iota"):
                continue
            tail = like.shape[lead:]
            if all(have in (1, want) for have, want in zip(node.shape, tail, strict=True)) and node.shape != like.shape:
                whole = (*(1 for _ in range(lead)), *node.shape)
                found = self.moved("reshape", whole, node) if lead else node
                return self.moved("expand", like.shape, found)
        return None

    def close(self, read: tuple[str, ...]) -> None:
        """End the round."""
        asked = tuple(dict.fromkeys(self.wanted))
        self.rounds.append(
            Round(until=len(self.nodes), writes=self.writes, values=dict(self.bound), asked=asked, read=read)
        )
        self.writes, self.wanted = {}, []

    def case(self) -> GraphCase:
        """Return the case."""
        results = tuple(dict.fromkeys(name for each in self.rounds for name in each.asked))
        graph = Graph(nodes=tuple(self.nodes), results=results, functions=self.functions, variables=self.variables)
        return GraphCase(graph=graph, buffers=self.buffers, rounds=tuple(self.rounds))


def chance(draw: Draw, among: int) -> bool:
    """Return yes in one of so many draws, no being the plain one."""
    return draw(choices.integers(0, among - 1)) == among - 1
