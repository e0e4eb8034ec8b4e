"""Reductions in the pieces that every algorithm is made of: blocks made ready, partial results, the end result."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from conformance.backends.opencl.graph.node import Collective, Elementwise, Movement, Reduce, whole
from conformance.backends.opencl.graph.reductions import COMBINES, accumulator, dividend
from conformance.backends.opencl.graph.view import View, contiguous
from conformance.cases.tensor.dtypes import NUMPY, kind

Operands = tuple[Movement, ...]


class Folding:
    """One reduction of one group: ``operands`` in member order, of which result elements hold ``shape``.

    Raw operands are blocks as they are given. Ready ones are flat, on their own device, in the dtype that is computed
    in, with local axes folded away and the factor applied.
    """

    def __init__(self, made: Collective, operands: Operands) -> None:
        """Read what is asked for off the collective."""
        name = made.attrs["op"]
        self.raw = operands
        self.op = f"arg_{name}" if made.operation == "arg_reduce" else COMBINES[name]
        self.dtype = made.dtype
        self.accumulator = accumulator(operands[0].node.dtype, name)
        self.local = len(made.attrs.get("local_axes", ()))
        shape = operands[0].view.shape
        self.shape, within = shape[: len(shape) - self.local], shape[len(shape) - self.local :]
        self.size = math.prod(self.shape)
        self.scale = bits(made.attrs["factor"], self.accumulator) if name == "premul_sum" else None
        count = len(operands) * math.prod(within)
        self.divisor = bits(count, dividend(self.accumulator)) if name == "mean" else None

    def ready(self) -> Operands:
        """Return the operands made ready."""
        return tuple(self._ready(block) for block in self.raw)

    @property
    def raw_op(self) -> str:
        """Return what combines elements that the factor has yet to be applied to."""
        return self.op if self.scale is None else "scaled_sum"

    def of_raw(self, device: int, operands: Operands, first: int = 0, size: int | None = None) -> Movement:
        """Return elements ``first`` to ``first + size`` of the end result, all raw operands folded at once."""
        size = self.size if size is None else size
        node = Reduce(
            device,
            self.dtype,
            size,
            self.raw_op,
            operands,
            self.accumulator,
            first,
            self.local,
            self.scale,
            self.divisor,
        )
        return whole(node, (size,))

    def of_ready(self, device: int, operands: Operands, *, last: bool) -> Movement:
        """Return flat ready operands folded, as a partial result or, when ``last``, as the end result."""
        size = operands[0].view.size
        dtype, divisor = (self.dtype, self.divisor) if last else (self.accumulator, None)
        return whole(Reduce(device, dtype, size, self.op, operands, self.accumulator, divisor=divisor), (size,))

    def _ready(self, block: Movement) -> Movement:
        node, view = block.node, block.view
        if self.local or self.scale is not None or node.dtype != self.accumulator:
            device, dtype, local = node.device, self.accumulator, self.local
            made = Reduce(device, dtype, self.size, self.raw_op, (block,), dtype, 0, local, self.scale)
            return whole(made, (self.size,))
        if view.strides == contiguous(view.shape).strides:
            return Movement(node, View((self.size,), (1,), view.offset))
        return whole(Elementwise(node.device, node.dtype, self.size, block), (self.size,))


def bits(value: Any, dtype: str) -> int:
    """Return the bits of a number in ``dtype`` (of a complex dtype, of its real part) as a signed 64-bit integer."""
    scalar = np.array(value, NUMPY[dtype])
    if kind(dtype) == "complex":
        scalar = scalar.real
    return int.from_bytes(scalar.tobytes(), "little", signed=scalar.itemsize == 8)
