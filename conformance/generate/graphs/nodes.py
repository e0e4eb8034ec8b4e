"""The nodes of a graph in the making, and the one that its chain goes on from: what all dialects of graphs grow."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from conformance.cases.graph.extent import Dim, sizes
from conformance.cases.graph.graph import Function, Node, Variable

Shape = tuple[Dim, ...]

MOST_AXES: Final = 5


@dataclass
class GraphNodes:
    """The nodes so far. ``head`` is the one from which the chain goes on.

    ``open`` names those that are storage which may be assigned to, element by element.
    """

    nodes: list[Node] = field(default_factory=list, kw_only=True)
    variables: dict[str, Variable] = field(default_factory=dict, kw_only=True)
    functions: dict[str, Function] = field(default_factory=dict, kw_only=True)
    open: set[str] = field(default_factory=set, kw_only=True)
    head: Node = field(default_factory=lambda: Node(id="", op="buf", shape=(), dtype="", device=""), kw_only=True)

    room_for: ClassVar[int] = 48
    """Elements of a value, at most, or as many as its source has: small, so that failures read well."""

    def add(self, op: Any, shape: Shape, dtype: str, *of: Node, device: str = "", **rest: Any) -> Node:
        """Add a node on the device of its first source."""
        name = rest.pop("id", f"n{len(self.nodes)}")
        where = device or (of[0].device if of else "d0")
        made = Node(id=name, op=op, of=tuple(each.id for each in of), shape=shape, dtype=dtype, device=where, **rest)
        self.nodes.append(made)
        return made

    def moved(self, op: str, shape: Shape, source: Node, arg: Any = None) -> Node:
        """Add movement of a node; what is a view of storage that may be assigned to stays one."""
        made = self.add(op, shape, source.dtype, source, arg=arg)
        if source.id in self.open and op not in ("pad", "expand"):
            self.open.add(made.id)
        return made

    def on(self, made: Node) -> bool:
        """Go on from a node."""
        self.head = made
        return True

    def same(self, op: Any, *of: Node, dtype: str = "", **rest: Any) -> bool:
        """Go on with an operation on the head and on others, whose result is of the head's shape."""
        at = self.head
        return self.on(self.add(op, at.shape, dtype or at.dtype, at, *of, **rest))

    @property
    def most(self) -> dict[str, int]:
        """Return the greatest value of each variable."""
        return {name: each.high for name, each in self.variables.items()}

    def count(self, shape: Shape) -> int:
        """Return the elements of a shape, where variables are greatest."""
        return math.prod(sizes(shape, self.most))

    def room(self, shape: Shape) -> bool:
        """Return whether a shape is small enough to go on with."""
        return self.count(shape) <= max(self.room_for, self.count(self.head.shape)) and len(shape) <= MOST_AXES


def alike(one: Node, other: Node) -> bool:
    """Return whether two nodes have one shape, dtype and device."""
    return (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device)
