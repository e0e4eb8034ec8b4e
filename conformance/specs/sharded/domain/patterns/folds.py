"""Patterns of folds over devices: of dangerous data, along every axis, and of values that stay pending."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from conformance.cases.graph.elementwise import Fold
from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import Placement, Split, even_cuts
from conformance.cases.tensor.dtypes import kind
from conformance.specs.domains import choices
from conformance.specs.sharded.domain.patterns.listing import Sharded, below, counted

Pattern = Callable[[Sharded], list[Node]]

NUMBERS: Final[tuple[Fold, ...]] = ("add", "mul", "max", "min")

AXES: Final = ((0,), (1,), (0, 1))

WIDTH: Final = 5
"""Columns of a fold whose order shows: a ring cuts them into chunks that begin with different devices."""


def _folds(e: Sharded, values: object, dtype: str, words: Sequence[str]) -> list[Node]:
    """Fold values along each axis and both, by each word, at two places."""
    found: list[Node] = []
    for _ in range(2):
        at = e.put(values, dtype, cut=True)
        found += [e.fold(word, at, *axes) for word in words for axes in AXES[: 2 if found else 3]]
    return found


def _of_negatives(e: Sharded) -> list[Node]:
    return _folds(e, below(e.square, e.signed), e.signed, (*NUMBERS, *(("and", "xor") if e.odd else ())))


def _of_unsigned(e: Sharded) -> list[Node]:
    values = 255 - counted(e.square, "uint8") % 7
    return _folds(e, values, "uint8", (*NUMBERS, *(("and", "or", "xor") if e.odd else ())))


def _of_bools(e: Sharded) -> list[Node]:
    """Fold truths, of which a part without elements, or with zeros in it, would make lies."""
    ones = e.put(below(e.square, "bool"), "bool", cut=True)
    some = e.put(counted(e.square, "bool"), "bool", cut=True)
    words = ("and", "or", "xor") if e.odd else ("and", "or")
    return [e.fold(word, at, *axes) for word in words for at in (ones, some) for axes in AXES]


def _of_floats(e: Sharded) -> list[Node]:
    """Fold negative floats, and ones with an infinity or a NaN on one device alone."""
    plain = -(2.0 ** (np.arange(np.prod(e.square)).reshape(e.square) % 3 - 1))
    wild = plain.copy()
    wild[-1, 0], wild[0, -1] = -np.inf, np.nan
    found = _folds(e, plain, e.real, NUMBERS)
    at = e.put(wild, e.real, cut=True)
    return [*found, *(e.fold(word, at, *axes) for word in ("max", "add", "min") for axes in AXES[:2])]


def _of_one_each(e: Sharded) -> list[Node]:
    """Fold as many elements as there are devices, and fewer, so that some devices fold one and some none."""
    found = []
    for extent in (e.count, max(e.count - 1, 1) if e.odd else e.count):
        line = e.put(below((extent,), e.signed), e.signed, cut=True)
        found += [e.fold(word, line, 0) for word in NUMBERS]
    thin = e.put(below((e.rows, 1), e.signed), e.signed, cut=True)
    return [*found, *(e.fold(word, thin, *axes) for word in ("max", "add") for axes in AXES)]


def _of_the_same(e: Sharded) -> list[Node]:
    """Fold one tensor in ways that differ in one word, one axis or one place."""
    values = counted(e.square, e.whole) % 5 + 1
    found = []
    for _ in range(3):
        at = e.put(values, e.whole, cut=True)
        found += [e.fold(word, at, axis) for word in ("add", "max") for axis in (0, 1)]
    return [*found, e.alu("sub", e.fold("add", at, 0), e.fold("add", at, 1)) if at.shape[0] == at.shape[1] else at]


def _wide(e: Sharded) -> list[Node]:
    """Fold in a wider dtype, over devices, what the narrow one could not hold on the way."""
    # The first device's factors leave the range of float16; those of the last ones bring the product back.
    half = e.rows // 2
    powers = np.array([9] * half + [0] * (e.rows % 2) + [-9] * half)
    found = []
    for dtype in ("float16", "bfloat16"):
        at = e.by_rows(2.0 ** np.stack([powers, powers], axis=1), dtype)
        found += [e.fold(word, at, *axes, acc="float32") for word in ("mul", "add", "max") for axes in AXES]
    bytes_ = e.put(np.resize([100, 27, -128, 5], (e.rows, 2)), "int8", cut=True)
    return [*found, *(e.fold(word, bytes_, 0, acc="int32") for word in ("add", "mul"))]


def _overflow(e: Sharded) -> list[Node]:
    """Fold bytes whose sums and products do not fit, and come round again."""
    return [
        e.fold(word, e.put(np.resize(values, e.square), dtype, cut=True), *axes)
        for dtype, values in (("uint8", [200, 100, 77]), ("int8", [100, -100, 127]))
        for word in ("add", "mul")
        for axes in AXES
    ]


def _large(e: Sharded) -> list[Node]:
    """Fold integers that no double holds, of which the last bits decide."""
    found = []
    for dtype, most in (("int64", 2**62), *((("uint64", 2**63),) if e.odd else ())):
        values = [most + (n * 7) % 11 for n in range(2 * e.rows)]
        at = e.by_rows(np.array(values, object).reshape(e.rows, 2), dtype)
        words = ("max", "min", "add", *(("xor", "and") if e.odd else ()))
        found += [e.fold(word, at, *axes) for word in words for axes in ((0,), (0, 1))]
    return found


def _late(e: Sharded, word: Fold, dtype: str = "") -> Node:
    """Return a fold that is pending, of small values that are all different."""
    dtype = dtype or e.signed
    # Of terms that grew from device to device the last one would be the greatest of all.
    values = (np.arange(math.prod(e.square)) * 7 % 23).reshape(e.square) - 4 * (not dtype.startswith("u"))
    return e.late(e.held(values, dtype, e.shared(e.square)), word)


def _not_linear(e: Sharded) -> list[Node]:
    """Do to a pending sum what has to wait for it, and what may be done to its terms."""
    found = []
    for dtype in (e.signed, e.real):
        p = _late(e, "add", dtype)
        three = e.const(3, p)
        found += [
            *(e.alu(word, p, three) for word in ("max", "mul", "add", "lt", "sub", "div", "eq")),
            *(e.alu(word, three, p) for word in ("sub", "min")),
            *(e.alu(word, p, p) for word in ("add", "mul")),
            *(e.alu(word, p) for word in ("neg", "abs")),
            e.alu("where", e.alu("lt", p, three), three, p),
            *(e.fold(word, p, 0) for word in ("add", "max")),
            e.cast(p, "bool"),
            e.cast(p, "uint8" if kind(dtype) == "integer" else "int32"),
            p,
        ]
    return found


def _other_folds_late(e: Sharded) -> list[Node]:
    """Let maxima, minima and products stay pending, and do to them what only sums allow."""
    left_out = e.asked.draw(choices.sampled_from(("max", "min", "mul")))
    words: tuple[Fold, ...] = ("max", "min", "mul")
    found = []
    for word in (each for each in words if each != left_out):
        p = _late(e, word)
        q = _late(e, word)
        found += [p, e.alu("neg", p), e.alu("add", p, e.const(2, p)), e.alu("mul", p, e.const(-1, p)), e.to(p)]
        found += [e.alu("add", p, q), e.alu("max", p, q)] if p.shape == q.shape else [q]
        found += [e.fold(each, p, 0) for each in NUMBERS]
    return found


def _late_converted(e: Sharded) -> list[Node]:
    """Convert pending sums of bytes that wrap, of floats with a fraction, and of bits; and what is made of them."""
    # Of a number of values that divides no extent the contributions are unlike: opposite ones lose equal fractions.
    found = []
    for dtype, values, others in (
        ("int8", (100, 77, 100, -3, 50, 90, -77), ("int32", "uint8", "bool", e.real)),
        ("uint8", (200, 100, 0, 77, 3, 150, 90), ("int32", "int8", "float32")),
        ("float32", (0.5, 0.75, -1.5, 0.25, 2.75, -0.5, 1.875), ("int32", "bool", "float64")),
    ):
        at = e.held(np.resize(values, e.square), dtype, e.shared(e.square))
        p = e.late(at, "add")
        found += [e.cast(p, other) for other in others]
        found += [e.cast(e.alu("add", p, p), others[0]), e.alu("add", e.cast(p, others[0]), e.cast(p, others[0]))]
        found += [e.fold("add", e.cast(p, others[0]), 0), e.alu("abs", p), p]
    bits = e.asked.add("bitcast", found[0].shape, "uint32", found[0])
    return [*found, bits, e.alu("not", found[0])]


def _of_empty_parts(e: Sharded) -> list[Node]:
    """Fold data to which any wrong identity of a part without elements would add, with such a part at either end."""
    (name, size) = e.mesh[0].name, e.mesh[0].size
    shape = (size - 1 or 1, 2)
    fewer = even_cuts(shape[0], max(size - 1, 1))
    ends = [(0, *fewer), (*fewer, shape[0])] if e.odd and size > 1 else [even_cuts(shape[0], size)] * 2
    bits = ("and", "xor") if e.odd else ()
    found = []
    for number, (dtype, value, words) in enumerate(
        (
            (e.signed, -3, (*NUMBERS, *bits)),
            ("uint8", 250, (*NUMBERS, *bits)),
            ("uint32" if e.odd else "int64", 2**32 - 5, ("min", "max", *bits)),
            ("bool", True, ("and", "or", "add", "mul", "min", "max")),
            (e.real, -np.inf, ("max", "add")),
            (e.real, np.inf, ("min", "mul")),
            ("float16", -60000.0, ("max", "mul")),
        )
    ):
        for cuts in ends if number % 2 else ends[::-1]:
            split = Split(axis=0, along=(name,), cuts=cuts)
            at = e.held(np.full(shape, value), dtype, Placement(splits=(split,)))
            found += [e.fold(word, at, 0) for word in words]
        found.append(e.fold(words[0], at, 0, 1))
    return found


def _late_together(e: Sharded) -> list[Node]:
    """Combine pending values of different folds, of different places, and with whole ones."""
    values, shape = counted(e.square, e.signed) % 9 - 4, e.square
    home = e.shared(shape)
    axis = min(split.axis for split in home.splits)
    one, two = (e.held(each, e.signed, home) for each in (values, values[::-1, ::-1] + 1))
    p, q, r = e.late(one, "add"), e.late(two, "add"), e.late(two, "max")
    whole = e.put(values[0] if axis == 0 else values[:, 0], e.signed)
    return [
        *(e.alu(word, p, q) for word in ("add", "sub", "mul", "max")),
        *(e.alu(word, p, r) for word in ("add", "max")),
        *(e.alu(word, p, whole) for word in ("add", "mul")),
        e.alu("sub", whole, p),
        e.alu("add", e.alu("add", p, q), e.alu("neg", p)),
    ]


def _late_moved(e: Sharded) -> list[Node]:
    """Move a pending value to several places, twice to one, and turn it before it is folded."""
    found = []
    for word in ("add", "max"):
        at = e.held(counted(e.square, e.signed) - 7, e.signed, e.shared(e.square))
        p: Node = e.late(at, word)
        shape = tuple(int(extent) for extent in p.shape)
        twice = e.place(shape)
        found += [p, e.to(p), e.to(p, twice), e.to(p, e.place(shape)), e.to(p, e.cut(shape)), e.to(p, twice)]
        found += [e.to(p), e.to(e.to(p)), e.spread(p, 2), e.moved("reshape", (1, *shape), p), e.alu("add", p, e.to(p))]
        found += [e.flip(p, 0), e.pad(p, (1, 1))] if e.odd else []
    return found


def rounded(e: Sharded) -> list[Node]:
    """Fold rows that devices have one each, of numbers of which most sums and products round: there the order shows."""
    axes = e.mesh if e.several else e.mesh[:1]
    size = math.prod(axis.size for axis in axes)
    values = (np.arange(size * WIDTH) * 37 % 101 + 1).reshape(size, WIDTH) / 7
    split = Split(axis=0, along=tuple(axis.name for axis in axes), cuts=even_cuts(size, size))
    at = e.held(values, e.real, Placement(splits=(split,)))
    return [e.fold(word, at, 0) for word in ("add", "mul")]


INSIDE: Final[Mapping[str, Pattern]] = {
    "folds of negatives": _of_negatives,
    "folds of unsigned": _of_unsigned,
    "folds of bools": _of_bools,
    "folds of floats": _of_floats,
    "folds of one each": _of_one_each,
    "folds of the same": _of_the_same,
    "wide folds": _wide,
    "overflow": _overflow,
    "large integers": _large,
}
"""Patterns of folds that are done when the next step begins."""

EMPTY: Final[Mapping[str, Pattern]] = {"empty parts": _of_empty_parts}
"""Patterns of axes that have fewer elements than devices."""

LATE: Final[Mapping[str, Pattern]] = {
    "not linear": _not_linear,
    "other folds late": _other_folds_late,
    "late together": _late_together,
    "late and converted": _late_converted,
    "late and moved": _late_moved,
}
"""Patterns of folds that stay pending, for which JAX and tinygrad have no words."""
