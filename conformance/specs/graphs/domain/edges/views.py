"""Patterns of views that are written, of mixed dtypes, of indices, of bits that no number has, and of long folds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from conformance.cases.graph.elementwise import COMPARISONS
from conformance.cases.graph.graph import Node
from conformance.cases.graph.promotion import promoted
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.cases.tensor.tensor import from_array
from conformance.specs.graphs.domain.edges.pattern import Pattern
from conformance.specs.graphs.domain.listing import Edge

_WIDE: Final = (2**31, 2**32 + 5, -(2**31) - 1, 2**63 - 1, -(2**63), 3 * 2**30, -1, 255)
"""Integers of 64 bits whose low parts are other numbers."""

_MIXED: Final = (
    ("int64", "float16"), ("uint8", "int8"), ("uint32", "int32"), ("int32", "bfloat16"), ("bool", "int8"),
    ("float16", "bfloat16"), ("int16", "uint16"), ("float32", "int64"),
)  # fmt: skip
"""Pairs of dtypes of which neither is the promoted one, or the narrower one is."""

_COMPARED: Final[Mapping[str, tuple[float, ...]]] = {
    **dict.fromkeys(("int64", "int32", "int16", "uint16", "uint32"), (2049, 257, 4099, 3, 32767, 2049, 257)),
    **dict.fromkeys(("float16", "bfloat16", "float32"), (2048, 256, 4096, 3, 0.5, 1, 1)),
    **dict.fromkeys(("int8", "uint8"), (100, 127, 3, 0, 64, 1, 1)),
    "bool": (True, False, True, False, True, True, False),
}

_LEAST: Final = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}
"""Signed integers, and the greatest shift of each."""

_LONG: Final = (257, 300, 1025)
"""Terms beyond a work-group, a vector, and a counter of 8 bits; none is a power of two."""


def _integers_wrapped(e: Edge) -> list[Node]:
    """Convert integers to fewer bits, and to the other sign."""
    wide = e.buf(_WIDE, "int64")
    low = e.buf([2**32 - 1, 2**31, 0, 2**31 - 1], "uint32")
    return [
        *(e.cast(wide, dtype) for dtype in ("int32", "uint32", "int16", "uint64")),
        *(e.cast(low, dtype) for dtype in ("int32", "int64", "int16", "uint64")),
        *(e.cast(wide, dtype, "int64") for dtype in ("int32", "uint32")),
    ]


def _dtypes_mixed(e: Edge) -> list[Node]:
    """Compute with operands of two dtypes, either one first, of which the promoted dtype does not hold all."""
    found = []
    for pair in _MIXED:
        left, right = (e.buf(_COMPARED[dtype], dtype) for dtype in pair)
        joined = promoted(pair)
        assert joined is not None  # each of these pairs has one
        for word in ("add", "lt", "eq"):
            dtype = "bool" if word in COMPARISONS else joined
            found.append(e.asked.add("alu", left.shape, dtype, left, right, arg=word))
        found.append(e.asked.add("alu", left.shape, joined, right, left, arg="max"))
    return found


def _sign_shifted(e: Edge) -> list[Node]:
    """Shift negative numbers of every width to the right, by little and by nearly all bits."""
    found = []
    for dtype, most in _LEAST.items():
        info = np.iinfo(dtype)
        held = e.buf([info.min, -1, -2, info.max, -7, 1], dtype)
        found += [e.alu("shr", held, e.const(by, held)) for by in (1, most - 1, most)]
        found += [e.alu("shl", held, e.const(by, held)) for by in (1, most)]
    return found


def _indices_of_every_dtype(e: Edge) -> list[Node]:
    """Take elements by indices of every width, beyond 127 too, in one and two dimensions, of data and of movement."""
    long, square = e.buf(np.arange(200) * 3 % 251, "int32"), e.buf(np.arange(12).reshape(3, 4), e.whole)
    found = []
    for dtype in ("uint8", "uint16", "int64", "uint32"):
        index = e.buf([199, 0, 128, 127, 130, 255 - 56], dtype)
        found.append(e.asked.add("gather", (6,), "int32", long, index, arg=0))
    rows = e.buf(np.arange(300).reshape(100, 3), "int32")
    for dtype in ("uint8", "int8"):
        index = e.buf([99, 50, 0, 86], dtype)
        found.append(e.asked.add("gather", (4, 3), "int32", rows, index, arg=0))
    table = e.buf([[2, 0], [1, 1]], "int8")
    for source in (square, e.flip(square, 0), e.alu("not", square)):
        for axis, shape in ((0, (2, 2, 4)), (1, (3, 2, 2))):
            found.append(e.asked.add("gather", shape, e.whole, source, table, arg=axis))
    return found


def _views_assigned(e: Edge) -> list[Node]:
    """Assign to storage that is turned, flipped, every second, a part, and moved to another shape."""
    found: list[Node] = []
    views: tuple[Callable[[Node], Node], ...] = (
        lambda at: e.turn(at, 1, 0),
        lambda at: e.flip(at, 0),
        lambda at: e.stride(at, 2, -1),
        lambda at: e.shrink(e.turn(at, 1, 0), (1, 3), (0, 3)),
        lambda at: e.asked.moved("reshape", (2, 3), e.shrink(e.asked.moved("reshape", (12,), at), (5, 11))),
    )
    for view in views:
        held = e.buf(np.arange(12).reshape(3, 4), e.whole)
        target = view(held)
        other = e.buf(np.arange(20, 20 + int(np.prod([int(x) for x in target.shape]))).reshape(target.shape), e.whole)
        found += [e.assign(target, other), held, e.alu("not", held)]
    square = e.buf(np.arange(9).reshape(3, 3), e.whole)
    found += [e.assign(e.turn(square, 1, 0), e.buf(np.arange(20, 29).reshape(3, 3), e.whole)), square]
    return found


def _assigned_from_neighbours(e: Edge) -> list[Node]:
    """Assign values that are computed of the same storage at other places."""
    line, plane, scan = (e.buf(values, e.whole) for values in (range(8), np.arange(12).reshape(3, 4), range(1, 7)))
    return [
        e.assign(e.shrink(line, (1, 8)), e.alu("add", e.shrink(line, (0, 7)), e.shrink(line, (1, 8)))),
        e.assign(e.flip(plane, 1), e.alu("not", plane)),
        e.assign(plane, e.alu("sub", e.flip(plane, 0), plane)),
        e.assign(e.shrink(scan, (0, 5)), e.alu("mul", e.shrink(scan, (1, 6)), e.shrink(scan, (0, 5)))),
        e.assign(e.shrink(scan, (1, 3)), e.shrink(scan, (0, 2))),
        *(line, plane, scan),
    ]


def _as(bits: int, whole: str, real: str) -> Array:
    return np.array(bits, NUMPY[whole]).view(NUMPY[real])


def _bits_of_no_number(e: Edge) -> list[Node]:
    """Take bits for floats, quiet and signalling NaNs among them, move, choose and store these, and take them back."""
    found = []
    for whole, real, bits in (
        ("uint32", "float32", [0x7F800001, 0xFFC12345, 0x80000000, 0x7F800000, 1, 0xFF800001]),
        ("uint16", "float16", [0x7C01, 0xFE12, 0x8000, 0x7C00, 1, 0xFC01]),
        ("uint16", "bfloat16", [0x7F81, 0xFFC1, 0x8000, 0x7F80, 1, 0xFF81]),
        ("uint64", "float64", [0x7FF0000000000001, 0xFFF8000000012345, 2**63, 0x7FF0000000000000, 1, 2**64 - 1]),
    ):
        held = e.buf(bits, whole)
        number = e.asked.add("bitcast", (6,), real, held)
        chosen = e.alu("where", e.alu("lt", held, e.const(5, held)), e.flip(number, 0), number)
        kept = e.asked.add("contig", (6,), real, e.flip(number, 0))
        storage = e.buf([0] * 6, real)
        written = e.assign(storage, number)
        there = e.asked.add("copy", (6,), real, number, device="d1")
        taken = e.asked.add("gather", (6,), real, number, e.buf([3, 0, 5, 1, 4, 2], "int32"), arg=0)
        same = [
            e.asked.add("const", (6,), real, device="d0", arg=from_array(_as(each, whole, real))) for each in bits[1:3]
        ]
        made = (number, chosen, kept, written, there, taken, *same)
        found += [e.asked.add("bitcast", (6,), whole, each) for each in made]
    return found


def _choice_repeated(e: Edge) -> list[Node]:
    """Choose by conditions and of branches that are repeated along an axis, or moved."""
    shape = e.i.shape
    column = e.alu("lt", e.shrink(e.i, (0, 4), (1, 2)), e.shrink(e.j, (0, 4), (1, 2)))
    row = e.alu("lt", e.shrink(e.i, (1, 2), (0, 6)), e.shrink(e.j, (1, 2), (0, 6)))
    wide = [e.asked.moved("expand", shape, each) for each in (column, row)]
    part = e.asked.moved("expand", shape, e.shrink(e.x, (0, 4), (2, 3)))
    top, other = (e.buf(np.arange(16).reshape(4, 4) * step, e.whole) for step in (1, 5))
    line = e.shrink(top, (0, 1), (0, 4))
    square = e.asked.moved("expand", (4, 4), e.alu("lt", line, e.const(2, line)))
    return [
        *(e.alu("where", each, top, other) for each in (square, e.turn(square, 1, 0))),
        *(e.alu("where", each, e.x, e.y) for each in wide),
        *(e.alu("where", each, part, e.x) for each in wide),
        e.alu("where", e.flip(wide[0], 0), e.i, e.j),
        e.alu("where", e.pad(e.shrink(wide[1], (1, 4), (0, 5)), (1, 0), (0, 1)), e.i, e.j),
    ]


def _pads_cut(e: Edge) -> list[Node]:
    """Cut off pads: all of one, a part of it, and all but it; and fold and compute what is left."""
    source = e.alu("not", e.i)
    whole = e.pad(source, (2, 1), (1, 3))
    parts = [((2, 6), (1, 7)), ((1, 6), (0, 7)), ((0, 2), (0, 10)), ((5, 7), (5, 10)), ((3, 5), (2, 4))]
    cut = [e.shrink(whole, *part) for part in parts]
    again = [e.pad(each, (1, 1), (0, 2)) for each in cut[:3]]
    return [
        *cut,
        *again,
        *(e.alu("not", each) for each in (*cut, *again)),
        *(e.fold(word, each, 1) for each in again for word in ("max", "mul")),
        e.stride(whole, 2, -3),
        e.flip(e.stride(whole, -1, 2), 1),
    ]


def _long_folds(e: Edge) -> list[Node]:
    """Fold many terms of which the last alone, or the first, decide."""
    found = []
    for count in _LONG:
        values = np.zeros(count, np.int64)
        values[-1], values[0] = 5, 3
        ends = e.buf(values, "int32")
        ones = e.buf(np.ones((2, count)), "uint8")
        falling = e.buf(-np.arange(1, count + 1), "int16")
        found += [e.fold(word, ends, 0) for word in ("add", "max", "or", "xor")]
        found += [e.fold("add", ones, 1), e.fold("mul", ones, 1), e.fold("xor", ones, 1)]
        found += [e.fold("max", falling, 0), e.fold("min", falling, 0)]
        found += [e.fold("add", e.asked.moved("reshape", (count, 2), ones), 0)]
    return found


def _product_of_two_users(e: Edge) -> list[Node]:
    """Divide a product by one of its factors, and use it, its factors and the quotient elsewhere."""
    found = []
    for x, y in ((e.i, e.j), (e.j, e.const(3, e.j)), (e.i, e.alu("or", e.j, e.const(1, e.j)))):
        product = e.alu("mul", x, y)
        safe = e.alu("max", y, e.const(1, y))
        scaled = e.alu("mul", x, safe)
        found += [product, e.alu("not", product), scaled, e.alu("div", scaled, safe), e.alu("mod", scaled, safe)]
        found.append(e.alu("sub", e.alu("div", scaled, safe), x))
    return found


def _shapes_of_views(e: Edge) -> list[Node]:
    """Move what is every second, flipped, turned, a part or padded to another shape, and on from there."""
    found = []
    for source in (e.i, e.alu("not", e.i)):
        seen = (
            e.stride(source, 2, 2),
            e.stride(source, -1, 3),
            e.flip(source, 1),
            e.turn(source, 1, 0),
            e.shrink(source, (1, 3), (1, 4)),
            e.pad(e.shrink(source, (0, 2), (0, 2)), (0, 1), (1, 0)),
            e.asked.moved("expand", (4, 6), e.shrink(source, (0, 4), (3, 4))),
        )
        for view in seen:
            count = int(np.prod([int(extent) for extent in view.shape]))
            line = e.asked.moved("reshape", (count,), view)
            found += [line, e.alu("not", e.flip(line, 0)), e.shrink(line, (1, count - 1))]
            if count % 3 == 0:
                found.append(e.fold("xor", e.asked.moved("reshape", (3, count // 3), view), 0))
    return found


def _met_below_zero(e: Edge) -> list[Node]:
    """Fold values of three devices, all below zero, to each of them."""
    values = [e.buf(-1 - np.arange(number, number + 4) % 3, "int32") for number in range(3)]
    there = [e.asked.add("copy", (4,), "int32", each, device=f"d{at}") for at, each in enumerate(values)]
    return [
        e.asked.add("all_reduce", (4,), "int32", *there, device=device, fold=word)
        for word in ("max", "min", "mul", "add")
        for device in ("d0", "d2")
    ]


VIEWS: Final[Mapping[str, Pattern]] = {
    "integers wrapped": _integers_wrapped,
    "dtypes mixed": _dtypes_mixed,
    "sign shifted": _sign_shifted,
    "indices of every dtype": _indices_of_every_dtype,
    "views assigned": _views_assigned,
    "assigned from neighbours": _assigned_from_neighbours,
    "bits of no number": _bits_of_no_number,
    "choice repeated": _choice_repeated,
    "pads cut": _pads_cut,
    "long folds": _long_folds,
    "product of two users": _product_of_two_users,
    "shapes of views": _shapes_of_views,
    "met below zero": _met_below_zero,
}
"""Every pattern by its name."""


def outside(e: Edge) -> list[Node]:
    """Take elements by indices that no element has, which no source but one gives a value."""
    found = []
    for source, extent in ((e.buf(np.arange(5) + 1, e.whole), 5), (e.buf([0.5, 2.0, -3.0], e.real), 3)):
        index = e.buf([-1, extent, 0, extent - 1, -7, 100], "int32")
        found.append(e.asked.add("gather", (6,), source.dtype, source, index, arg=0))
    return found
