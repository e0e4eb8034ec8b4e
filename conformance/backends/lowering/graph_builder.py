"""A graph over several devices in the making, and what a logical tensor is in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.cases.graph.graph import Node
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement
from conformance.cases.tensor.tensor import Tensor

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Spread:
    """A logical tensor: its shape, dtype and placement, and the node that each device has of it, if it is real.

    ``repeats`` is the tensor whose axes of extent 1 were expanded, where it is one: there is less of that to move.
    """

    shape: Shape
    dtype: str
    at: Placement
    nodes: tuple[Node | None, ...]
    repeats: Spread | None = None


@dataclass
class Building:
    """A case on its way: the nodes and buffers so far."""

    case: ShardedCase
    nodes: list[Node] = field(default_factory=list)
    buffers: dict[str, Tensor] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)
    """Nodes of storage that is written once, and of which nothing else is a name."""
    remote: int = 0
    """Bytes that the nodes so far move from device to device."""

    def device(self, position: int) -> str:
        """Return the name of the device at a position of the mesh."""
        return f"d{self.case.devices[position]}"

    def add(self, position: int, op: Any, shape: Shape, dtype: str, *of: Node, **rest: Any) -> Node:
        """Add a node on a device."""
        made = Node(
            id=f"v{len(self.nodes)}",
            op=op,
            of=tuple(each.id for each in of),
            shape=shape,
            dtype=dtype,
            device=self.device(position),
            **rest,
        )
        self.nodes.append(made)
        return made


def extents(node: Node) -> Shape:
    """Return the shape of a node, which is of numbers."""
    return tuple(int(dim) for dim in node.shape)
