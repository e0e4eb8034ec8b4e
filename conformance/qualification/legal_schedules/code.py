"""A kernel being written: where values are, and the instructions on them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from conformance.cases.graph.extent import Dim, Values
from conformance.cases.schedule.index_map import Affine, IndexMap, contiguous
from conformance.cases.schedule.kernel_body import (
    Alu,
    Body,
    Cast,
    Constant,
    Fetch,
    Index,
    Instruction,
    Load,
    Store,
    Symbol,
)
from conformance.cases.schedule.schedule import Access, Binding, Kernel
from conformance.cases.tensor.tensor import Tensor, from_array

Numbers = tuple[int, ...]


@dataclass(frozen=True)
class Where:
    """Where the value of a node is: elements of a ``buffer`` by ``map``, a constant, or a variable of a dtype."""

    shape: Numbers
    dtype: str
    device: str
    buffer: str = ""
    map: IndexMap = ()
    constant: Tensor | None = None
    variable: str = ""

    def seen_by(self, points: Affine) -> Where:
        """Return the same value at other points, each of which takes an element of this one in C order."""
        rest = () if self.map == contiguous(self.shape) else self.map
        return replace(self, map=(points, *rest)) if self.buffer else self


class Code:
    """The instructions of one kernel."""

    def __init__(self, device: str, extents: tuple[Dim, ...]) -> None:
        """Begin a kernel over the points of ``extents``."""
        self.device, self.extents = device, extents
        self.lines: list[Instruction] = []
        self.accesses: list[Access] = []
        self.variables: dict[str, None] = {}

    def add(self, line: Instruction) -> int:
        """Add an instruction, and return its number."""
        self.lines.append(line)
        return len(self.lines) - 1

    def value(self, at: Where) -> int:
        """Return the number of the instruction that gives what is there."""
        if at.constant is not None:
            return self.add(Constant(value=at.constant))
        if at.variable:
            self.variables[at.variable] = None
            found = self.add(Symbol(name=at.variable))
            return found if at.dtype == "int64" else self.add(Cast(of=found, dtype=at.dtype))
        self.accesses.append(Access(buffer=at.buffer, map=at.map))
        return self.add(Load(access=len(self.accesses) - 1))

    def counted(self, axis: int, dtype: str) -> int:
        """Return the number of the instruction that gives each point its place along an axis."""
        found = self.add(Index(axis=axis))
        return found if dtype == "int64" else self.add(Cast(of=found, dtype=dtype))

    def taken(self, data: Where, index: Where, axis: int) -> int:
        """Return the number of the instruction that takes elements along an axis of ``data``, clamped to its ends.

        The points are those of ``data`` with the axes of ``index`` in the place of that axis.
        """
        shape = (*data.shape[:axis], *index.shape, *data.shape[axis + 1 :])
        behind = axis + len(index.shape)
        own = (0,) * axis + contiguous(index.shape)[0].strides + (0,) * (len(shape) - behind)
        place = self.value(index.seen_by(Affine(extents=shape, strides=own)))
        place = place if index.dtype == "int64" else self.add(Cast(of=place, dtype="int64"))
        for op, end in (("max", 0), ("min", data.shape[axis] - 1)):
            bound = self.add(Constant(value=from_array(np.asarray(end, np.int64))))
            place = self.add(Alu(op=op, of=(place, bound)))  # type: ignore[arg-type]  # a word of ``Alu``
        strides = contiguous(data.shape)[0].strides
        kept = (*strides[:axis], *(0,) * len(index.shape), *strides[axis + 1 :], strides[axis])
        whole = data.seen_by(Affine(extents=(*shape, data.shape[axis]), strides=kept))
        self.accesses.append(Access(buffer=whole.buffer, map=whole.map))
        return self.add(Fetch(access=len(self.accesses) - 1, at=(place,)))

    def stored(self, id: str, value: int, write: Access, values: Values, by: tuple[str, ...]) -> Kernel:
        """Return the kernel that stores a value: ``values`` are those of variables, ``by`` the nodes it computes."""
        self.add(Store(access=len(self.accesses), of=value))
        self.accesses.append(write)
        return Kernel(
            id=id,
            device=self.device,
            accesses=tuple(self.accesses),
            bodies=(Body(extents=self.extents, instructions=tuple(self.lines)),),
            variables=tuple(Binding(name, values[name]) for name in sorted(self.variables)),
            provenance=by,
        )
