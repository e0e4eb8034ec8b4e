"""The nodes that a random graph has so far, and the node from which its chain goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Node
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs.nodes import GraphNodes, Shape, alike
from conformance.generate.schedules.swarms import Swarm, constant

SOMETIMES: Final = choices.sampled_from([False, False, True])


@dataclass
class GraphChain(GraphNodes):
    """The chain so far: ``sides`` are what was made of the head beside it.

    ``bare`` names nodes that are made of a variable alone, which no engine computes by themselves.
    """

    room_for: ClassVar[int] = 24
    """So that what a movement makes fits a buffer of a long graph."""

    draw: Draw
    swarm: Swarm
    devices: tuple[str, ...]
    bare: set[str] = field(default_factory=set)
    sides: list[str] = field(default_factory=list)

    def pick(self) -> Node:
        """Draw an earlier node to go on from, the last ones first."""
        found = [node for node in reversed(self.nodes) if node.op != "const" and node.id not in self.bare]
        return self.draw(choices.sampled_from(found))

    def like(self, node: Node) -> Node:
        """Draw a node of the shape, the dtype and the device of another, itself too, or a constant."""
        number = self.draw(choices.integers(0, 5))
        if number == 1 and node in self.nodes:
            return node
        found = [each for each in self.nodes if alike(each, node) and each.id not in self.bare]
        if number > 2 and found:
            return self.draw(choices.sampled_from(found[::-1]))
        return self.add("const", node.shape, node.dtype, device=node.device, arg=constant(self.draw, node.dtype))

    def stored(self, like: Node, device: str) -> Node:
        """Return storage on a device of the shape and the dtype of a node: a part of a buffer, moved to its shape.

        Where no buffer has so many elements of the dtype there is a new one.
        """
        if any(isinstance(extent, str) for extent in like.shape):
            return self._narrowed(like, device)
        if not self.draw(SOMETIMES) and (part := self._part(like, device)) is not None:
            return part
        wanted = self.count(like.shape)
        buffers = [node for node in self.nodes if node.op == "buf" and node.device == device]
        fitting = [node for node in buffers if node.dtype == like.dtype and self.count(node.shape) >= wanted]
        if not fitting:
            fitting = [self.buffer((wanted + 2,), device, like.dtype)]
        at = self.draw(choices.sampled_from(fitting))
        have = self.count(at.shape)
        if have != wanted:
            at = self.moved("reshape", (have,), at) if len(at.shape) != 1 else at
            first = self.draw(choices.integers(0, have - wanted))
            at = self.moved("shrink", (wanted,), at, ((first, first + wanted),))
        at = at if at.shape == like.shape else self.moved("reshape", like.shape, at)
        if self.draw(SOMETIMES) and at.shape:
            at = self.moved("flip", at.shape, at, (self.draw(choices.integers(0, len(at.shape) - 1)),))
        return at

    def buffer(self, shape: Shape, device: str, dtype: str) -> Node:
        """Add a buffer."""
        name = f"e{len(self.nodes)}"
        made = self.add("buf", shape, dtype, device=device, id=name, arg=name)
        self.open.add(made.id)
        return made

    def _part(self, like: Node, device: str) -> Node | None:
        """Return a range of each axis of a buffer that has the rank of a node, if there is one that is large enough."""
        shape = sizes(like.shape, {})
        for at in reversed(self.nodes):
            fits = at.op == "buf" and len(at.shape) == len(shape) and (at.dtype, at.device) == (like.dtype, device)
            have = sizes(at.shape, {}) if fits else ()
            if fits and all(extent >= wanted for extent, wanted in zip(have, shape, strict=True)):
                firsts = [self.draw(choices.integers(0, n - wanted)) for n, wanted in zip(have, shape, strict=True)]
                pairs = tuple((first, first + wanted) for first, wanted in zip(firsts, shape, strict=True))
                return at if have == shape else self.moved("shrink", like.shape, at, pairs)
        return None

    def _narrowed(self, like: Node, device: str) -> Node:
        """Return the beginning of each axis of a buffer, as much of it as a shape with variables has."""
        for at in self.nodes:
            pairs = zip(at.shape, like.shape, strict=False)
            fits = at.op == "buf" and len(at.shape) == len(like.shape) and (at.dtype, at.device) == (like.dtype, device)
            if fits and all(self.count((have,)) >= self.count((wanted,)) for have, wanted in pairs):
                return self.moved("shrink", like.shape, at, tuple((0, extent) for extent in like.shape))
        made = self.buffer(sizes(like.shape, self.most), device, like.dtype)
        return self.moved("shrink", like.shape, made, tuple((0, extent) for extent in like.shape))
