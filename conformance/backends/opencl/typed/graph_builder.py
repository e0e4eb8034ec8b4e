"""A graph in the making: values of one block a member, each member on a device of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import NUMPY, Array, logical
from conformance.cases.tensor.tensor import Tensor, from_array

Shape = tuple[int, ...]


class Blocks(NamedTuple):
    """The nodes of a value, one a member, and the shape and dtype of each block."""

    nodes: tuple[str, ...]
    shape: Shape
    dtype: str


class Building:
    """The nodes of a graph, and what its buffers hold."""

    def __init__(self) -> None:
        """Start with no ``nodes``."""
        self.nodes: list[Node] = []
        self._buffers: dict[str, Tensor] = {}

    def put(self, arrays: Sequence[Array]) -> Blocks:
        """Return what is in a buffer of each member."""
        dtype, shape = logical(arrays[0].dtype), arrays[0].shape
        nodes = []
        for member, array in enumerate(arrays):
            name = buffer(len(self._buffers))
            self._buffers[name] = from_array(array)
            nodes.append(self.node("buf", (), shape, dtype, member, arg=name))
        return Blocks(tuple(nodes), shape, dtype)

    def node(self, op: Any, sources: Sequence[str], shape: Shape, dtype: str, member: int, **rest: Any) -> str:
        """Add a node on the device of a member, and return its id."""
        made = Node(
            id=f"n{len(self.nodes)}", op=op, of=tuple(sources), shape=shape, dtype=dtype, device=device(member), **rest
        )
        self.nodes.append(made)
        return made.id

    def each(self, make: Callable[[int], str], shape: Shape, dtype: str, members: int) -> Blocks:
        """Return a value that ``make`` makes on each of so many members."""
        return Blocks(tuple(make(member) for member in range(members)), shape, dtype)

    def constant(
        self, like: Blocks, values: Sequence[int], dtype: str | None = None, shape: Shape | None = None
    ) -> Blocks:
        """Return one number everywhere in the block of each member, of the shape and dtype of ``like`` or others."""
        dtype, shape = dtype or like.dtype, like.shape if shape is None else shape
        nodes = [
            self.node("const", (), shape, dtype, member, arg=from_array(np.array(value, NUMPY[dtype])))
            for member, value in enumerate(values)
        ]
        return Blocks(tuple(nodes), shape, dtype)

    def alu(self, op: str, *operands: Blocks) -> Blocks:
        """Return an elementwise operation of blocks of one shape and dtype."""
        first = operands[0]
        nodes = [
            self.node("alu", sources, first.shape, first.dtype, member, arg=op)
            for member, sources in enumerate(zip(*(each.nodes for each in operands), strict=True))
        ]
        return Blocks(tuple(nodes), first.shape, first.dtype)

    def moved(self, op: Any, given: Blocks, shape: Shape, arg: Any = None) -> Blocks:
        """Return a movement of every block."""
        return self.each(
            lambda member: self.node(op, (given.nodes[member],), shape, given.dtype, member, arg=arg),
            shape,
            given.dtype,
            len(given.nodes),
        )

    def summed(self, given: Blocks, axis: int) -> Blocks:
        """Return the sum of every block along a local axis."""
        shape = given.shape[:axis] + given.shape[axis + 1 :]
        nodes = [
            self.node("reduce", (node,), shape, given.dtype, member, arg=(axis,), fold="add")
            for member, node in enumerate(given.nodes)
        ]
        return Blocks(tuple(nodes), shape, given.dtype)

    def spread(self, given: Blocks, axes: Sequence[int], shape: Shape) -> Blocks:
        """Return blocks of ``shape`` that are the same along ``axes``, which ``given`` has not."""
        thin = tuple(1 if axis in axes else extent for axis, extent in enumerate(shape))
        return self.moved("expand", self.moved("reshape", given, thin), shape)

    def meet(self, op: str, given: Blocks, groups: Groups, shape: Shape, attrs: Mapping[str, Any]) -> Blocks:
        """Return what every member receives from a collective over groups of members."""
        nodes = list(given.nodes)
        for group in groups:
            names, sources = tuple(map(device, group)), [given.nodes[member] for member in group]
            for member in group:
                nodes[member] = self.node(
                    "collective", sources, shape, given.dtype, member, arg=op, attrs=dict(attrs), members=names
                )
        return Blocks(tuple(nodes), shape, given.dtype)

    def gathered(self, sources: Sequence[str], members: Sequence[int], axis: int, shape: Shape, dtype: str) -> str:
        """Return the blocks of some members, stacked along a new axis, on the device of the first of them."""
        names, attrs = tuple(map(device, members)), {"axis": axis, "tiled": False}
        return self.node("collective", sources, shape, dtype, members[0], arg="all_gather", attrs=attrs, members=names)

    def rows(self, source: str, shape: Shape, dtype: str, span: tuple[int, int], member: int) -> str:
        """Return rows ``span`` of a block that may be on another member's device."""
        pairs = (span, *((0, extent) for extent in shape[1:]))
        cut = (span[1] - span[0], *shape[1:])
        there = self.node("shrink", (source,), cut, dtype, self._member(source), arg=pairs)
        return self.node("copy", (there,), cut, dtype, member)

    def put_at(self, rows: str, count: int, at: int, like: Blocks, member: int) -> str:
        """Return a block like those of ``like`` with ``count`` rows from row ``at``, and zeros elsewhere."""
        pairs = ((at, like.shape[0] - at - count), *((0, 0) for _ in like.shape[1:]))
        return self.node("pad", (rows,), like.shape, like.dtype, member, arg=pairs)

    def total(self, parts: Sequence[str], like: Blocks, member: int) -> str:
        """Return the sum of blocks like those of ``like``, zeros where there is none."""
        if not parts:
            zero = from_array(np.zeros((), NUMPY[like.dtype]))
            return self.node("const", (), like.shape, like.dtype, member, arg=zero)
        found, *rest = parts
        for other in rest:
            found = self.node("alu", (found, other), like.shape, like.dtype, member, arg="add")
        return found

    def case(self, results: Mapping[str, Blocks]) -> GraphCase:
        """Return the graph, which asks for these values."""
        asked = tuple(dict.fromkeys(node for blocks in results.values() for node in blocks.nodes))
        graph = Graph(nodes=tuple(self.nodes), results=asked)
        return GraphCase(graph=graph, buffers=self._buffers, rounds=(Round(until=len(self.nodes), asked=asked),))

    def _member(self, node: str) -> int:
        return int(self.nodes[int(node[1:])].device[1:])


def buffer(number: int) -> str:
    """Return the name of the buffer of the block that was put there after so many others."""
    return f"b{number}"


def device(member: int) -> str:
    """Return the name of a member's device."""
    return f"d{member}"
