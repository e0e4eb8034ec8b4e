"""Folds of repeats, of padding, of axes that look alike, and in a wider dtype."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import ml_dtypes
import numpy as np

from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.specs.graphs.domain.edges.pattern import COUNTED, Pattern
from conformance.specs.graphs.domain.listing import Edge


def _across(e: Edge, dtype: str) -> list[Node]:
    """Fold axes that do not lie side by side, in a wider dtype, where a rounding between them decides."""
    large = 2 / float(ml_dtypes.finfo(NUMPY[dtype]).eps)
    held = e.buf([[[large, 1, 1, 1], [2, 2, 0, 1]]] * 3, dtype)
    return [
        e.fold("add", held, 0, 2, acc="float32"),
        e.fold("add", e.turn(held, 2, 1, 0), 2, 0, acc="float32"),
        e.fold("add", e.alu("neg", held), 0, 1, 2, acc="float32"),
    ]


def _through(e: Edge, dtype: str, wide: str, values: list[list[float]]) -> list[Node]:
    """Compute in a wider dtype what fits into a narrow one at the end, and on the way does not."""
    whole = e.cast(e.buf(values, dtype), wide)
    total, product = e.fold("add", whole, 1), e.alu("mul", whole, whole)
    if kind(dtype) == "float":
        by = 1 / len(values[0]), 1 / abs(values[0][0])
        scaled = [e.alu("mul", each, e.const(one, each)) for each, one in zip((total, product), by, strict=True)]
    else:
        info = ml_dtypes.iinfo(NUMPY[dtype])
        scaled = [_clamped(e, each, int(info.min), int(info.max)) for each in (total, product)]
    return [e.cast(each, dtype) for each in scaled]


def _clamped(e: Edge, value: Node, least: int, most: int) -> Node:
    return e.alu("max", e.alu("min", value, e.const(most, value)), e.const(least, value))


def _narrow_and_back(e: Edge) -> list[Node]:
    """Compute means, scaled squares and saturated sums by way of each wider dtype."""
    return [
        *_through(e, "float16", "float32", [[32768, 65504, 16384, 40000], [-32768, -60000, -2, 2]]),
        *_through(
            e, "float32", "float64", [[2.0**127, 2.0**127, 2.0**126, 2.0**100], [-(2.0**127), -(2.0**127), 2.0**110, 0]]
        ),
        *_through(e, "int8", "int32", [[127, 100, 3, -5], [-128, -128, 2, 16]]),
        *_through(e, "uint8", "int32", [[255, 255, 3, 16], [1, 0, 200, 100]]),
        *_through(e, "int16", "int64", [[32767, 32767, -3, 200], [-32768, -1, -32768, 182]]),
    ]


def _of_nothing(e: Edge) -> list[Node]:
    """Fold no elements, in their own dtype and in a wider one."""
    found = []
    for dtype, wide in (("float16", "float32"), ("bfloat16", "float32"), ("int16", "int32"), ("uint8", "uint32")):
        none = e.shrink(e.buf(COUNTED + 1, dtype), (1, 1), (0, 4))
        # In the dtype it is folded in a maximum of no integers is a number that the narrow dtype does not have.
        extremes = ("max", "min") if kind(dtype) == "float" else ()
        found += [e.fold(word, none, 0, acc=wide) for word in ("add", "mul", *extremes)]
        found += [e.fold(word, e.alu("add", none, none), *axes) for word in ("max", "min") for axes in ((0,), (0, 1))]
    return found


def _without_a_sign(e: Edge) -> list[Node]:
    """Fold and compare unsigned integers whose first bit is set."""
    found = []
    for dtype in ("uint8", "uint16", "uint32", "uint64"):
        top = 1 << (ml_dtypes.iinfo(NUMPY[dtype]).bits - 1)
        held = e.buf([[top, 1, top - 1], [top + 2, 2 * top - 1, 0]], dtype)
        found += [e.fold(word, held, axis) for word in ("max", "min") for axis in (0, 1)]
        found += [e.alu(word, held, e.flip(held, 0, 1)) for word in ("max", "min", "lt")]
    return found


def _in_parts(e: Edge) -> list[Node]:
    """Fold so many terms that they are folded in parts, where the last terms decide; of some no part has as many."""
    found = []
    for count in PARTED:
        line = e.asked.add("iota", (count,), "int32", device="d0", arg=0)
        few = e.cast(e.alu("and", line, e.const(3, line)), "float32")
        found += [*(e.fold(word, line, 0) for word in ("add", "max", "xor")), e.fold("add", few, 0)]
    rows = e.spread(e.buf(np.arange(1, 258), "int32"), 257)
    return [
        *found,
        e.fold("add", rows, 0, 1),
        e.fold("xor", e.alu("not", e.flip(rows, 0)), 0, 1),
        e.fold("max", rows, 0),
    ]


PARTED: Final = (2**16 + 257, 2**16 + 2**9, 2**17 - 1)
"""Terms that engines fold in parts (2^16 and more in ours): an odd number, one of many parts, one less than a power."""

FOLDS: Final[Mapping[str, Pattern]] = {
    "wider in between": lambda e: [
        e.fold("add", e.buf([[60000, 30000], [-60000, 1]], "float16"), 0, 1, acc="float32"),
        e.fold("mul", e.buf([[300, 300], [0.01, 0.5]], "float16"), 0, 1, acc="float32"),
        e.fold("add", e.buf([[256, 1], [1, 1], [1, 1]], "bfloat16"), 0, 1, acc="float32"),
        *_through(e, "bfloat16", "float32", [[2**10, 3, 1, 1], [-(2**10), 2**-8, 1, 0]]),
    ],
    "wider across an axis": lambda e: [*_across(e, "float16"), *_across(e, "bfloat16")],
    "bits of repeats": lambda e: [
        e.fold(word, e.spread(e.i, count), 2) for word in ("xor", "and", "or") for count in (2, 3)
    ],
    "numbers of repeats": lambda e: [
        *(e.fold(word, e.spread(e.i, 3), 2) for word in ("add", "mul", "max")),
        *(e.fold(word, e.const(3, e.i), 1) for word in ("add", "mul", "xor", "min")),
        e.fold("max", e.spread(e.x, 3), 2),
    ],
    "fold of zeros around": lambda e: [
        e.fold(word, e.pad(e.alu("neg", below), (0, 1), (2, 0)), 1)
        for below in (e.buf(COUNTED + 1, "float32"), e.buf(-1 - COUNTED, "int32"))
        for word in ("max", "min", "mul", "add")
    ],
    "odd extents": lambda e: [
        e.fold(word, e.buf(-1 - (np.arange(4 * 7).reshape(4, 7) % 3), e.signed), axis)
        for word in ("max", "mul", "add")
        for axis in (0, 1)
    ],
    "axes alike": lambda e: [
        e.fold("max", e.buf(np.arange(27).reshape(3, 3, 3) * 7 % 27, "int32"), *axes)
        for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    ],
    "narrow and back": _narrow_and_back,
    "folds of nothing": _of_nothing,
    "without a sign": _without_a_sign,
    "folds in parts": _in_parts,
}
"""Folds that a shorter expression gives for some operators and not for others."""
