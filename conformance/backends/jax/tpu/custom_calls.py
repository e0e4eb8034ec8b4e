"""Custom calls of XLA's compiler for TPUs, on the values of all ranks: pairs of words, tiles, and what is started."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Instruction, Shape
from conformance.backends.jax.tpu.pairs import BrokenPair
from conformance.backends.jax.tpu.tiling import reinterpreted
from conformance.cases.tensor.dtypes import NUMPY

Evaluated = Any


@dataclass(frozen=True)
class Around:
    """The ``instructions`` of the computation that a call stands in, and the ``values`` of those before it."""

    instructions: Mapping[int, Instruction]
    values: Mapping[int, Evaluated]


Make = Callable[[Around, Instruction, list[Evaluated]], Evaluated]


def filled(shape: Shape, values: list[Evaluated]) -> Evaluated:
    """Return a tuple that begins with ``values``; the rest of it is contexts."""
    return (*values, *[None] * (len(shape.parts) - len(values)))


def _async_start(around: Around, node: Instruction, operands: list[Evaluated]) -> Evaluated:
    """What the collective reads, what it gives, and contexts."""
    collective = around.instructions[node.operands[0]]
    return filled(node.shape, [*(around.values[each] for each in collective.operands), *operands])


def _async_end(around: Around, node: Instruction, operands: list[Evaluated]) -> Evaluated:
    """The collective is computed once more where it ends, after what it reads and what it gave before."""
    del around
    _, before, now = operands[:3]
    if before.shape != now.shape or before.tobytes() != now.tobytes():
        raise BrokenPair(f"{node.name}: what a started collective reads was another value when it ended")
    return now


def _low(around: Around, node: Instruction, operands: list[Evaluated]) -> Evaluated:
    """Of an integer the lower half; of a float what the upper one leaves."""
    (x,) = operands
    if x.dtype.kind == "f":
        return (x - _high(around, node, operands)).astype(np.float32)
    return np.ascontiguousarray(x).view(np.uint64).astype(np.uint32).view(NUMPY[node.shape.dtype]).reshape(x.shape)


def _high(around: Around, node: Instruction, operands: list[Evaluated]) -> Evaluated:
    del around
    (x,) = operands
    if x.dtype.kind == "f":
        return x.astype(np.float32)
    wide = np.ascontiguousarray(x).view(np.uint64) >> np.uint64(32)
    return wide.astype(np.uint32).view(NUMPY[node.shape.dtype]).reshape(x.shape)


def _combined(around: Around, node: Instruction, operands: list[Evaluated]) -> Evaluated:
    del around
    if node.shape.dtype == "float64":
        return sum(each.astype(np.float64) for each in operands)
    low, high = (np.ascontiguousarray(each).view(np.uint32).astype(np.uint64) for each in operands)
    return (low | high << np.uint64(32)).view(NUMPY[node.shape.dtype]).reshape(operands[0].shape)


def _zero_cropped(around: Around, node: Instruction, operands: list[Evaluated]) -> Evaluated:
    """The same memory, of which the padding is shown and zero."""
    of = around.instructions[node.operands[0]].shape
    return reinterpreted(operands[0], of, node.shape, NUMPY[node.shape.dtype], padding=0)


CUSTOM: Final[dict[str, Make]] = {
    "AsyncCollectiveStart": _async_start,
    "AsyncCollectiveDone": _async_end,
    "AssumeGatherIndicesInBound": lambda _, __, operands: operands[0],
    "ZeroCrop": _zero_cropped,
    "X64SplitLow": _low,
    "X64SplitHigh": _high,
    "X64Combine": _combined,
}
"""Custom calls of the compiler's own; 64-bit integers are pairs of 32-bit ones, and float64 is a sum of float32."""


def custom_call(around: Around, node: Instruction, operands: list[Evaluated]) -> Evaluated:
    """Return the value of a custom call; raise ``Unsupported`` for one that has no meaning here."""
    target = node.message.text(28)
    if target not in CUSTOM:
        raise Unsupported(f"a custom call of {target!r}")
    return CUSTOM[target](around, node, operands)
