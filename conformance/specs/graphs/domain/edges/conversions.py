"""Conversions that narrow, round or lose a sign."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import ml_dtypes
import numpy as np

from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import NUMPY
from conformance.specs.graphs.domain.edges.pattern import TIES, Pattern
from conformance.specs.graphs.domain.listing import Edge


def _small(dtype: str) -> list[Any]:
    """Return numbers of which many are subnormal, of either sign."""
    info = ml_dtypes.finfo(NUMPY[dtype])
    tiny, normal = info.smallest_subnormal, info.smallest_normal
    return [tiny, -tiny, normal / 2, -normal / 2, 0.0, normal, -normal, tiny * 3]


def _bits_of_views(e: Edge, dtype: str) -> list[Node]:
    """Take the bits of storage, and of what was computed, in another order than they lie."""
    word = f"int{8 * NUMPY[dtype].itemsize}"
    held = e.buf(np.arange(24).reshape(2, 3, 4) + 0.5, dtype)
    found = []
    for at in (held, e.alu("neg", held)):
        views = (e.turn(at, 2, 0, 1), e.turn(at, 0, 2, 1), e.flip(at, 0, 2), e.stride(at, 1, -2, 3))
        found += [e.bits(view, word) for view in (*views, e.shrink(at, (1, 2), (0, 2), (1, 4)))]
    return [*found, e.bits(e.turn(e.bits(held, word), 1, 2, 0), dtype)]


CONVERSIONS: Final[Mapping[str, Pattern]] = {
    "integers narrowed": lambda e: [
        e.cast(e.i, *chain)
        for chain in (
            ("int8", e.whole),
            ("uint8", e.whole),
            ("int16", "int64"),
            ("bool", e.whole),
            ("uint8", "int8"),
        )
    ],
    "floats narrowed": lambda e: (
        [
            e.cast(e.buf([0.1, 2049, 1e-7, -0.0, 65520, 0.3], "float32"), narrow, "float32")
            for narrow in ("float16", "bfloat16")
        ]
        + [e.cast(e.buf([1.5, -2.5, 0.0, -0.75, 3.99], e.real), "int32", e.real)]
        # What overflows in 16 bits on the way.
        + [e.cast(e.alu("add", x, x), "float32") for x in [e.buf([60000.0, -60000.0, 1.5, 0.0], "float16")]]
    ),
    "to bool": lambda e: [
        e.cast(e.buf([0.5, -0.25, 0.0, -0.0, 256.0, np.nan], e.real), "bool"),
        e.cast(e.buf([0, 1, 64, 2, 96, 0], e.whole), "bool", e.whole),
        e.cast(e.buf([256, 65536, 2**24, 0], "int32"), "bool"),
    ],
    "constants converted": lambda e: [
        e.cast(e.const(value, like), dtype)
        for like, values, dtypes in (
            (e.x, (1.5, -2.75, 3.0, -0.0, 100.25), ("int8", "int64", "bool", "float16", "float64")),
            (e.i, (0, 1, 77, 100), ("bool", "int8", "uint16", "float16", "float32")),
        )
        for value in values
        for dtype in dtypes
    ],
    "rounded once": lambda e: [
        *(e.cast(e.buf(TIES, "int64"), dtype) for dtype in ("float32", "float64")),
        e.cast(e.buf([1 + 2**-11 + 2**-40, 2049 + 2**-30, 1 - 2**-12 - 2**-42], "float64"), "float16"),
        *(
            e.cast(e.buf([1 + place + 2**-13, 1 + 3 * place - 2**-13, -(1 + place + 2**-9)], wide), narrow)
            for narrow, place in (("float8_e5m2", 2**-3), ("float8_e4m3fn", 2**-4))
            for wide in ("float64", "float32")
        ),
        e.cast(e.buf([2**24 + 1, 2**31 - 1, 2**24 + 3, -(2**24) - 1], "int32"), "float32"),
    ],
    "bits of views": lambda e: [*_bits_of_views(e, "float32"), *_bits_of_views(e, "float16")],
    "bits of what was computed": lambda e: [
        e.bits(made, f"int{8 * NUMPY[dtype].itemsize}")
        for dtype in ("float32", "float16", "float64")
        for x in [e.buf(_small(dtype), dtype)]
        for made in (x, e.alu("neg", x), e.alu("abs", x), e.alu("max", e.flip(x, 0), x), e.pad(x, (1, 2)))
    ],
}
"""Conversions, one after another too."""
