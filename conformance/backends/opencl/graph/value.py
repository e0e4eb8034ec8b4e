"""What a graph of tensor operations asks for, as values that nobody has computed yet.

Equal requests are one value: what is the same by operation, sources and argument is made once.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import msgspec

from conformance.backends.opencl.graph.index_map import Affine, Shape, in_order, then
from conformance.cases.tensor.dtypes import NUMPY


class GraphValue(msgspec.Struct, frozen=True, eq=False):
    """One value on one device; its sources have lower numbers.

    ``arg`` is for ``load`` the storage and the number of its version, ``const`` the bits of one element, ``iota`` the
    axis, ``alu`` the operation, ``move`` the affine map from points to the row-major numbers of the source's elements
    (zero bits where that is masked), ``reduce`` the operation and the axes, ``gather`` the axis, ``received`` the
    meeting and the position there. A ``load`` has one axis, all elements of its storage.
    """

    op: str
    dtype: str
    shape: Shape
    device: int
    of: tuple[GraphValue, ...]
    arg: Any
    number: int

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)


class Values:
    """All values of a graph, each once."""

    def __init__(self) -> None:
        """Start with none."""
        self._made: dict[Hashable, GraphValue] = {}
        self._count = 0

    def make(
        self,
        op: str,
        dtype: str,
        shape: Shape,
        device: int,
        of: Sequence[GraphValue] = (),
        arg: Any = None,
        *,
        one: bool = True,
    ) -> GraphValue:
        """Return the value of this operation; with ``one`` false another than all before."""
        key = (op, dtype, shape, device, tuple(each.number for each in of), arg)
        found = self._made.get(key) if one else None
        if found is None:
            found = GraphValue(op, dtype, shape, device, tuple(of), arg, self._count)
            self._count += 1
            if one:
                self._made[key] = found
        return found

    def const(self, bits: bytes, dtype: str, shape: Shape, device: int) -> GraphValue:
        """Return one element everywhere."""
        return self.make("const", dtype, shape, device, (), bits)

    def moved(self, source: GraphValue, by: Affine) -> GraphValue:
        """Return the elements of ``source`` that a map names; movement of movement is one movement where it can be."""
        shape, zero = by.extents, bytes(NUMPY[source.dtype].itemsize)
        if source.op == "move":
            chain = then((by,), source.arg)
            if len(chain) == 1:
                source, by = source.of[0], chain[0]
        if not source.size:
            # All that there is was added by a pad.
            return self.const(zero, source.dtype, shape, source.device)
        if any(low >= high for low, high in by.mask or ()):
            return self.const(zero, source.dtype, shape, source.device)
        if source.op == "const" and (by.mask is None or source.arg == zero):
            return self.const(source.arg, source.dtype, shape, source.device)
        if shape == source.shape and by == in_order(shape):
            return source
        return self.make("move", source.dtype, shape, source.device, (source,), by)


def plain(value: GraphValue) -> GraphValue:
    """Return what a value is but for its shape."""
    while value.op == "move" and value.arg.mask is None and value.arg == in_order(value.shape):
        value = value.of[0]
    return value


def base(value: GraphValue) -> GraphValue:
    """Return what a value is a movement of."""
    while value.op == "move":
        value = value.of[0]
    return value
