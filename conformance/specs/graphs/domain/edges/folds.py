"""Folds of repeats, of padding, of axes that look alike, and in a wider dtype."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import ml_dtypes
import numpy as np

from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import NUMPY
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


FOLDS: Final[Mapping[str, Pattern]] = {
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
    "wider in between": lambda e: [
        e.fold("add", e.buf([[60000, 30000], [-60000, 1]], "float16"), 0, 1, acc="float32"),
        e.fold("mul", e.buf([[300, 300], [0.01, 0.5]], "float16"), 0, 1, acc="float32"),
        e.fold("add", e.buf([[256, 1], [1, 1], [1, 1]], "bfloat16"), 0, 1, acc="float32"),
    ],
    "wider across an axis": lambda e: [*_across(e, "float16"), *_across(e, "bfloat16")],
}
"""Folds that a shorter expression gives for some operators and not for others."""
