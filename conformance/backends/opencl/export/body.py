"""A kernel's works in the neutral operations of ``conformance.cases.schedule.kernel_body``, one body a work.

What is folded within a load is folded there before the loads are combined, which is another association of the same
elements; everything else is the kernel's own order and rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Node
from conformance.backends.opencl.graph.reductions import dividend
from conformance.backends.opencl.graph.view import View, contiguous
from conformance.backends.opencl.schedule.item import Kernel, Region, Work
from conformance.cases.graph.elementwise import Fold
from conformance.cases.schedule import kernel_body as neutral
from conformance.cases.schedule.index_map import Affine, IndexMap
from conformance.cases.schedule.kernel_body import Alu, Body, Cast, Constant, Instruction, Load, Reduce, Store
from conformance.cases.schedule.schedule import Access
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import Tensor, from_array

COMBINES: Final[dict[str, Fold]] = {
    "sum": "add", "scaled_sum": "add", "product": "mul", "max": "max", "min": "min", "and": "and", "or": "or",
    "xor": "xor",
}  # fmt: skip

ONE: Final = View((), ())
"""Nothing is folded away within a load: one element."""

NOBODY: Final = 2**31 - 1
"""The position of a NaN."""

_BY_REAL: Final = ("divide", "scale")
"""What is done to a sum, or to its terms, with a number that is not complex."""

ProgramNodes = Mapping[Node, tuple[str, ...]]
"""The nodes of the program's graph that a node is, the last of which its storage shows in the end."""


def last(asked: ProgramNodes, node: Node) -> str | None:
    """Return what is written where ``node`` is."""
    return asked[node][-1] if node in asked else None


class Writer:
    """Accesses and bodies of one kernel, as they are made."""

    def __init__(self, item: Kernel, names: Mapping[Node, str], asked: ProgramNodes) -> None:
        """Write the works of ``item``; ``names`` are the buffers of its nodes, ``asked`` what they are called."""
        self.item, self._names, self._asked = item, names, asked
        self.accesses: list[Access] = []
        bodies = tuple(self._body(work) for work in item.works)
        # Complex numbers are divided and scaled part by part, which is no operation of a body: an infinity divided by a
        # complex number has NaN in the other part.
        by_parts = kind(item.body.accumulator) == "complex" and any(work.mode in _BY_REAL for work in item.works)
        self.bodies = () if by_parts else bodies

    def _body(self, work: Work) -> Body:
        within = work.within[0].shape if work.within else ()
        self._lines: list[Instruction] = []
        value = self._moved(work) if self.item.body.operation in ("move", "copy") else self._folded(work, within)
        still = View(within, (0,) * len(within))
        for slot, view in work.stores:
            access = self._access(self.item.targets[slot], view, work, still, write=True)
            self._add(Store(access=access, of=value))
        return Body(extents=(work.size, *within), instructions=tuple(self._lines))

    def _moved(self, work: Work) -> int:
        if not work.loads:
            dtype = self.item.targets[0].node.dtype
            return self._number(0, dtype)
        slot, view = work.loads[0]
        return self._add(Load(access=self._access(self.item.sources[slot], view, work, ONE)))

    def _folded(self, work: Work, within: tuple[int, ...]) -> int:
        body = self.item.body
        values = [
            self._load(self.item.sources[slot], view, work, work.within[k] if work.within else ONE)
            for k, (slot, view) in enumerate(work.loads)
        ]
        if body.operation.startswith("arg_"):
            return self._position(values, body.operation == "arg_max", body.accumulator)
        op = COMBINES[body.operation]
        axes = tuple(range(1, 1 + len(within)))
        if axes:
            values = [self._add(Reduce(op=op, of=value, axes=axes)) for value in values]
        value = values[0]
        for other in values[1:]:
            value = self._add(Alu(op=op, of=(value, other)))
        if work.mode == "divide":
            dtype = dividend(body.accumulator)
            value = value if dtype == body.accumulator else self._add(Cast(of=value, dtype=dtype))
            value = self._add(Alu(op="div", of=(value, self._bits(work.scalar, dtype))))
            if dtype != body.accumulator and kind(body.accumulator) == "float":
                value = self._add(Cast(of=value, dtype=body.accumulator))
        return value

    def _load(self, source: Region, view: View, work: Work, within: View) -> int:
        body = self.item.body
        value = self._add(Load(access=self._access(source, view, work, within)))
        if body.source != body.accumulator:
            value = self._add(Cast(of=value, dtype=body.accumulator))
        if work.mode == "scale":
            value = self._add(Alu(op="mul", of=(value, self._bits(work.scalar, body.accumulator))))
        return value

    def _position(self, values: Sequence[int], largest: bool, dtype: str) -> int:
        """Return the number of the first largest or smallest value, ``NOBODY`` where there is a NaN."""
        best, at = values[0], self._number(0, "int32")
        for number, value in enumerate(values[1:], 1):
            wins = self._add(Alu(op="lt", of=(best, value) if largest else (value, best)))
            if FORMATS[dtype].unordered:
                wins = self._add(Alu(op="or", of=(wins, self._add(Alu(op="ne", of=(value, value))))))
            best = self._add(Alu(op="where", of=(wins, value, best)))
            at = self._add(Alu(op="where", of=(wins, self._number(number, "int32"), at)))
        if FORMATS[dtype].unordered:
            nan = self._add(Alu(op="ne", of=(best, best)))
            at = self._add(Alu(op="where", of=(nan, self._number(NOBODY, "int32"), at)))
        return at

    def _access(self, region: Region, view: View, work: Work, within: View, *, write: bool = False) -> int:
        """Add an access to the elements of a view that a work handles, and return its number."""
        found = _map(view.shifted(region.first), work, within)
        node = last(self._asked, region.node) if write else None
        self.accesses.append(Access(buffer=self._names[region.node], write=write, map=found, node=node))
        return len(self.accesses) - 1

    def _number(self, value: int, dtype: str) -> int:
        return self._add(Constant(value=from_array(np.array(value).astype(NUMPY[dtype]))))

    def _bits(self, bits: int, dtype: str) -> int:
        """Add a constant that is given by its bits, of a complex dtype by those of its real part."""
        width = NUMPY[dtype].itemsize // (2 if kind(dtype) == "complex" else 1)
        real = (bits % 2 ** (8 * width)).to_bytes(width, "little")
        found = real.ljust(NUMPY[dtype].itemsize, b"\0").hex()
        return self._add(Constant(value=Tensor(dtype=dtype, shape=(), bits=found)))

    def _add(self, instruction: neutral.Instruction) -> int:
        self._lines.append(instruction)
        return len(self._lines) - 1


def _map(view: View, work: Work, within: View) -> IndexMap:
    """Return the map from ``(element of the work, indices within)`` to elements of a storage.

    Elements of a work count the view in row-major order from ``work.first`` on; where the view has one axis that is
    one map, else a chain.
    """
    if len(view.shape) == 1:
        offset = view.offset + work.first * view.strides[0]
        extents, strides = (work.size, *within.shape), (view.strides[0], *within.strides)
        return (Affine(extents=extents, strides=strides, offset=offset + within.offset),)
    inner = contiguous(within.shape)
    count = math.prod(within.shape)
    return (
        Affine(extents=(work.size, *within.shape), strides=(count, *inner.strides), offset=work.first * count),
        Affine(
            extents=(*view.shape, *within.shape),
            strides=(*view.strides, *within.strides),
            offset=view.offset + within.offset,
        ),
    )
