"""Instructions of one neutral body while it is being made, over points whose axes are added as reductions need them."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.index_fit import fit
from conformance.cases.schedule.index_map import IndexMap
from conformance.cases.schedule.kernel_body import Alu, Cast, Constant, Index, Instruction, Reduce
from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.cases.tensor.tensor import from_array

MOST_POINTS: Final = 1 << 16
"""Points of a body that are written out; beyond them a kernel is shown without its body, for each is enumerated."""

At = tuple[Array, ...]
"""For each axis of a value the index there, an array over the points that may have extents of 1."""


def level(at: At) -> At:
    """Return the arrays with as many axes as the one with most; those that were made first lack the last axes."""
    rank = max((each.ndim for each in at), default=0)
    return tuple(each.reshape(each.shape + (1,) * (rank - each.ndim)) for each in at)


class Lines:
    """The axes of the points, and the instructions so far with their dtypes."""

    def __init__(self, extents: tuple[int, ...]) -> None:
        """Begin with the points of what is stored."""
        self.extents = extents
        self.lines: list[Instruction] = []
        self.dtypes: list[str] = []
        self._known: dict[bytes, int] = {}
        self._check()

    def points(self) -> At:
        """Return the index along each of the axes."""
        return tuple(self.along(axis) for axis in range(len(self.extents)))

    def along(self, axis: int) -> Array:
        """Return the index along one axis."""
        shape = [-1 if each == axis else 1 for each in range(len(self.extents))]
        return np.arange(self.extents[axis]).reshape(shape)

    def axis(self, extent: int, at: At, taken: list[int], first: int) -> int:
        """Return an axis of that extent to fold along, one that there is or a new one.

        One that there is may not be one of the ``first`` axes, ``taken`` already, or one that ``at`` depends on.
        """
        for axis in range(first, len(self.extents)):
            free = all(each.ndim <= axis or each.shape[axis] == 1 for each in at)
            if self.extents[axis] == extent and axis not in taken and free:
                return axis
        self.extents = (*self.extents, extent)
        self._check()
        return len(self.extents) - 1

    def _check(self) -> None:
        if math.prod(self.extents) > MOST_POINTS:
            raise Unsupported(f"a kernel of more than {MOST_POINTS} points")

    def add(self, instruction: Instruction, dtype: str) -> int:
        """Add an instruction and return its number."""
        self.lines.append(instruction)
        self.dtypes.append(dtype)
        return len(self.lines) - 1

    def constant(self, value: Any, dtype: str) -> int:
        """Add one value at every point."""
        return self.add(Constant(value=from_array(np.array(value, NUMPY[dtype]))), dtype)

    def alu(self, op: Any, *of: int) -> int:
        """Add an elementwise operation on values of one dtype."""
        compares = op in ("lt", "eq", "ne")
        return self.add(Alu(op=op, of=of), "bool" if compares else self.dtypes[of[-1]])

    def cast(self, of: int, dtype: str) -> int:
        """Add a conversion, unless there is nothing to convert."""
        return of if self.dtypes[of] == dtype else self.add(Cast(of=of, dtype=dtype), dtype)

    def fold(self, op: Any, of: int, axes: tuple[int, ...]) -> int:
        """Add a reduction."""
        return self.add(Reduce(op=op, of=of, axes=axes), self.dtypes[of]) if axes else of

    def whole(self, at: Array) -> Array:
        """Return an array over the points with all its axes."""
        return np.broadcast_to(at.reshape(at.shape + (1,) * (len(self.extents) - at.ndim)), self.extents)

    def index(self, at: Array) -> int:
        """Add what gives an integer that is a chain of strides over the points; raise ``Unsupported`` for others."""
        found = fit(self.whole(at), np.ones(self.extents, np.bool_)) if math.prod(self.extents) else None
        if found is None:
            raise Unsupported("an index that no chain of strides gives")
        key = repr(found).encode() + bytes(len(self.extents))
        if key not in self._known:
            self._known[key] = self._counted(found)
        return self._known[key]

    def _counted(self, chain: IndexMap) -> int:
        first, *rest = chain
        of = [(self.add(Index(axis=axis), "int64"), step) for axis, step in enumerate(first.strides) if step]
        at = self._sum(of, first.offset)
        for affine in rest:
            parts, below = [], 1
            for extent, step in reversed(list(zip(affine.extents, affine.strides, strict=True))):
                digit = self.alu("div", at, self.constant(below, "int64")) if below > 1 else at
                parts.append((self.alu("mod", digit, self.constant(extent, "int64")), step))
                below *= int(extent)
            at = self._sum(parts, affine.offset)
        return at

    def _sum(self, parts: list[tuple[int, int]], offset: int) -> int:
        at = self.constant(offset, "int64") if offset or not parts else -1
        for line, step in parts:
            term = self.alu("mul", line, self.constant(step, "int64")) if step != 1 else line
            at = term if at < 0 else self.alu("add", at, term)
        return at

    def chosen(self, values: Array) -> int:
        """Add values that are known at every point: one for all, or integers that are a chain of strides."""
        dtype = next(name for name, each in NUMPY.items() if each == values.dtype)
        if not values.size or (values.tobytes() == values.reshape(-1)[:1].tobytes() * values.size):
            return self.constant(values.reshape(-1)[0] if values.size else 0, dtype)
        if kind(dtype) != "integer" or values.astype(np.int64).astype(values.dtype).tobytes() != values.tobytes():
            raise Unsupported("a table of constants")
        return self.cast(self.index(values.astype(np.int64)), dtype)
