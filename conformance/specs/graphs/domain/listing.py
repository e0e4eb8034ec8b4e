"""A graph case in the making of patterns that name their data: a node has the shape that follows from its sources."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from conformance.cases.graph.elementwise import COMPARISONS
from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array
from conformance.specs.graphs.domain.unfinished_case import Asked

SHAPE: Final = (4, 6)
"""The shape of the buffers that every pattern may use."""


class Listing:
    """A case in the making, of which an integer and a float dtype are settled."""

    def __init__(self, asked: Asked, whole: str, real: str) -> None:
        """Begin with no nodes."""
        self.asked, self.whole, self.real = asked, whole, real
        self.signed = whole.lstrip("u")

    def buf(self, values: Any, dtype: str) -> Node:
        """Add a buffer with that content."""
        name, held = f"b{len(self.asked.buffers)}", array_of(values, dtype)
        self.asked.buffers[name] = from_array(held)
        return self.asked.add("buf", held.shape, dtype, device="d0", arg=name, id=name)

    def const(self, value: Any, like: Node) -> Node:
        """Add a constant of the shape and dtype of a node."""
        return self.asked.add("const", like.shape, like.dtype, device="d0", arg=from_array(array_of(value, like.dtype)))

    def alu(self, word: str, *of: Node) -> Node:
        """Add an operation on nodes of one dtype."""
        return self.asked.add("alu", of[-1].shape, "bool" if word in COMPARISONS else of[-1].dtype, *of, arg=word)

    def cast(self, of: Node, *dtypes: str) -> Node:
        """Add conversions to dtypes, one after another."""
        for dtype in dtypes:
            of = self.asked.add("cast", of.shape, dtype, of)
        return of

    def bits(self, of: Node, dtype: str) -> Node:
        """Add the bits of a node as another dtype."""
        return self.asked.add("bitcast", of.shape, dtype, of)

    def fold(self, word: str, of: Node, *axes: int, acc: str = "") -> Node:
        """Add a fold of axes."""
        kept = tuple(extent for axis, extent in enumerate(of.shape) if axis not in axes)
        return self.asked.add("reduce", kept, of.dtype, of, arg=axes, fold=word, acc=acc)

    def pad(self, of: Node, *sides: tuple[int, int]) -> Node:
        """Add zeros before and after each axis."""
        shape = tuple(sum(each) + int(extent) for each, extent in zip(sides, of.shape, strict=True))
        return self.asked.moved("pad", shape, of, sides)

    def shrink(self, of: Node, *ends: tuple[int, int]) -> Node:
        """Add a part of a node."""
        return self.asked.moved("shrink", tuple(end - begin for begin, end in ends), of, ends)

    def flip(self, of: Node, *axes: int) -> Node:
        """Turn axes round."""
        return self.asked.moved("flip", of.shape, of, axes)

    def stride(self, of: Node, *steps: int) -> Node:
        """Add each so manieth element of each axis."""
        shape = tuple(-(-int(extent) // abs(step)) for extent, step in zip(of.shape, steps, strict=True))
        return self.asked.moved("stride", shape, of, steps)

    def turn(self, of: Node, *axes: int) -> Node:
        """Add axes in another order."""
        return self.asked.moved("permute", tuple(of.shape[axis] for axis in axes), of, axes)

    def spread(self, of: Node, count: int) -> Node:
        """Repeat a node along a new last axis."""
        return self.asked.moved("expand", (*of.shape, count), self.asked.moved("reshape", (*of.shape, 1), of))

    def assign(self, target: Node, value: Node) -> Node:
        """Assign to a view of a buffer."""
        return self.asked.add("assign", target.shape, target.dtype, target, value)


class Edge(Listing):
    """A case of which every pattern may use the same buffers."""

    def __init__(self, asked: Asked, whole: str, real: str) -> None:
        """Begin with two buffers of each dtype, of which every pair of elements that break identities meets."""
        super().__init__(asked, whole, real)
        self.i, self.j = (self.buf(_dealt(_ends(whole), step), whole) for step in (1, 5))
        self.x, self.y = (self.buf(_dealt(_SPECIAL, step), real) for step in (1, 5))

    def iota(self) -> Node:
        """Count along the last axis."""
        return self.asked.add("iota", SHAPE, self.whole, device="d0", arg=1)


_SPECIAL: Final = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 60000.0)


def _ends(dtype: str) -> tuple[int, ...]:
    info = np.iinfo(NUMPY[dtype])
    least, most = int(info.min), int(info.max)
    return tuple(sorted({least, least + 1, max(least, -1), 0, 1, 2, 5, most // 2 + 1, most - 1, most, max(least, -7)}))


def _dealt(pool: tuple[Any, ...], step: int) -> np.ndarray[Any, Any]:
    at = [pool[number * step % len(pool)] for number in range(math.prod(SHAPE))]
    return np.array(at, object).reshape(SHAPE)


def array_of(values: Any, dtype: str) -> np.ndarray[Any, Any]:
    """Return values as an array of a dtype, each converted by itself."""
    held = NUMPY[dtype]
    # Integers go in one by one: NumPy would make floats of those beyond int64.
    array = np.array(values, object)
    with np.errstate(all="ignore"):
        return np.array([held.type(each) for each in array.reshape(-1)], held).reshape(array.shape)
