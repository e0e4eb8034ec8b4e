"""Patterns of several sharded operands: placed alike, otherwise in one thing, and each way a product can be."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import Placement, Split
from conformance.specs.sharded.domain.compositions import joined, norm, softmax, stacked
from conformance.specs.sharded.domain.patterns.listing import Sharded, counted
from conformance.specs.sharded.domain.places import one_real
from conformance.specs.sharded.domain.programs import Program

Pattern = Callable[[Sharded], list[Node]]


def _no_exchange(e: Sharded) -> list[Node]:
    """Combine operands at two places each by operations that tell the first from the second."""
    found = []
    for _ in range(4):
        one = e.put(counted(e.square, e.signed), e.signed)
        two = e.put(counted(e.square, e.signed)[::-1, ::-1] % 5 + 1, e.signed)
        found += [e.alu("sub", one, two), e.alu("sub", two, one), e.alu("lt", one, two)]
    return [*found, *(e.alu(word, *pair) for word in ("div", "min") for pair in ((one, two), (two, one)))]


def _three_places(e: Sharded) -> list[Node]:
    """Choose by a condition from two values, each of the three at a place of its own."""
    found = []
    for _ in range(3):
        told = e.put(np.resize([True, False, False, True, False], e.square), "bool")
        one, two = (e.put(counted(e.square, e.whole, start), e.whole) for start in (1, 40))
        found += [e.alu("where", told, one, two), e.alu("where", told, two, one)]
    less = e.alu("lt", one, e.const(7, one))
    return [*found, e.alu("where", less, two, one)]


def _turned_operands(e: Sharded) -> list[Node]:
    """Combine a square with itself turned, whose parts have the same shapes and other elements."""
    size = min(e.rows, 6)
    shape = (size, size)
    if size != e.rows and not e.odd:
        return _no_exchange(e)
    at = e.put(counted(shape, e.whole), e.whole, cut=True)
    turned = e.moved("permute", shape, at, (1, 0))
    other = e.put(counted(shape, e.whole, 3), e.whole, cut=True)
    return [
        *(e.alu(word, at, turned) for word in ("sub", "max")),
        e.alu("sub", turned, other),
        e.alu("sub", e.to(at, e.place(shape)), at),
        e.alu("lt", other, at),
        e.alu("sub", e.fold("add", at, 0), e.fold("add", at, 1)),
    ]


def _counts(e: Sharded) -> list[Node]:
    """Combine what is split with counts and constants, which begin with the whole tensor and not with a part."""
    found = []
    for _ in range(2):
        at = e.put(counted(e.square, e.whole), e.whole, cut=True)
        lines = [e.asked.add("iota", at.shape, at.dtype, device="d0", arg=axis) for axis in (0, 1)]
        found += [e.alu("sub", at, lines[0]), e.alu("add", lines[1], at), e.alu("max", at, e.const(9, at))]
        found += [e.to(lines[0], e.place(e.square)), e.to(e.const(5, at), e.place(e.square))]
        found += [e.fold("max", e.alu("mul", e.const(2, at), lines[1]), 1), e.fold("add", e.const(3, at), 0)]
    return found


def _rows_taken(e: Sharded) -> list[Node]:
    """Take elements by indices, along the split axis and another, by indices that are split and that are not."""
    rows, columns = e.square
    places = np.resize([rows - 1, 0, rows // 2, 0], rows)
    found = []
    for dtype in ("int32", "int64"):
        at = e.put(counted(e.square, e.whole), e.whole, cut=True)
        index = e.put(places, dtype)
        other = e.put(np.resize([columns - 1, 0], rows), dtype)
        found.append(e.asked.add("gather", (rows, columns), at.dtype, at, index, arg=0))
        found.append(e.asked.add("gather", (rows, rows), at.dtype, at, other, arg=1))
    if e.odd:
        # Parts of another length each: an index counted in the last one is none of the first.
        longer, (_, width) = _growing(e)
        index = e.put(np.arange(width)[::-1], "int32")
        found.append(e.asked.add("gather", (2, width), longer.dtype, longer, index, arg=1))
    return [*found, e.alu("sub", found[0], at), e.fold("max", found[1], 0)]


def _products(e: Sharded) -> list[Node]:
    """Multiply matrices that are placed in every way: by rows, by columns, and not at all."""
    size = min(e.rows, 4) if e.odd else e.rows
    if size > 4:
        size = e.mesh[0].size
    shape = (size, size)
    one_values, two_values = counted(shape, "int32") % 7 - 3, counted(shape, "int32")[::-1] % 5
    found = []
    for _ in range(4):
        one, two = e.put(one_values, "int32"), e.put(two_values, "int32")
        whole = (size, size, size)
        left = e.moved("expand", whole, e.moved("reshape", (size, size, 1), one))
        right = e.moved("expand", whole, e.moved("reshape", (1, size, size), two))
        found.append(e.fold("add", e.alu("mul", left, right), 1))
    return found


def _one_word(*uses: Callable[[Program], bool]) -> Pattern:
    """Return the pattern of compositions, each of a tensor at another place."""

    def pattern(e: Sharded) -> list[Node]:
        found = []
        for use in uses:
            for _ in range(2):
                e.asked.head = e.put(counted((e.rows, 2), e.real) % 4, e.real, cut=True)
                if use(e.program):
                    found.append(e.asked.head)
        return found

    return pattern


def _two_pads(e: Sharded) -> list[Node]:
    """Put two tensors one behind the other along each axis, in both orders."""
    rows, columns = e.square
    one, two = (e.put(counted(e.square, e.whole, start), e.whole) for start in (1, 50))
    found = []
    for first, second in ((one, two), (two, one)):
        pads = e.pad(first, (0, rows), (0, 0)), e.pad(second, (rows, 0), (0, 0))
        found.append(e.alu("or", *pads))
        pads = e.pad(first, (0, 0), (columns, 0)), e.pad(second, (0, 0), (0, columns))
        found.append(e.alu("add", *pads))
    return found


def _parts_in_place(e: Sharded) -> list[Node]:
    """Take every part alone, use it, put it in its place again, and put all of them together."""
    at = e.put(counted(e.square, e.whole), e.whole, cut=True)
    return [*_each_part(e, at, e.square), *(_each_part(e, *_growing(e)) if e.odd else [])]


def _growing(e: Sharded) -> tuple[Node, tuple[int, int]]:
    """Return a tensor of which each device has one column more than the one before, and its shape."""
    name, size = e.mesh[0].name, e.mesh[0].size
    cuts = (0, *itertools.accumulate(range(1, size + 1)))
    placement = Placement(splits=(Split(axis=1, along=(name,), cuts=cuts),))
    return e.held(counted((2, cuts[-1]), e.whole), e.whole, placement), (2, cuts[-1])


def _each_part(e: Sharded, at: Node, shape: tuple[int, int]) -> list[Node]:
    """Take every part of a tensor of a shape along its first split axis."""
    (split, *_) = e.program.at(at).splits
    found, again = [], []
    for begin, end in zip(split.cuts, split.cuts[1:], strict=False):
        pairs = [(begin, end) if n == split.axis else (0, extent) for n, extent in enumerate(shape)]
        around = [(begin, shape[split.axis] - end) if n == split.axis else (0, 0) for n in range(2)]
        part = e.shrink(at, *pairs)
        found += [part, e.fold("max", part, 1 - split.axis)]
        again.append(e.pad(e.alu("add", part, e.const(3, part)), *around))
    made = again[0]
    for each in again[1:]:
        made = e.alu("add", made, each)
    return [*found, *again[:2], made]


def _masked_together(e: Sharded) -> list[Node]:
    """Combine a tensor of which one part is real with one like it, with a whole one, and with another part's."""
    shape = (3, 2)
    last = e.mesh[0].size - 1
    first, same, other = (
        e.held(counted(shape, e.signed, start), e.signed, one_real(shape, e.mesh, 0, at))
        for start, at in ((1, 0), (20, 0), (9, last))
    )
    whole = e.held(counted(shape, e.signed, 5), e.signed, Placement())
    return [
        e.alu("sub", first, same),
        e.alu("sub", same, whole),
        e.alu("sub", whole, other),
        e.alu("lt", first, other),
        e.fold("min", e.alu("add", first, whole), 0),
        e.alu("max", e.alu("neg", same), e.alu("neg", first)),
        e.to(e.alu("mul", other, other)),
    ]


INSIDE: Final[Mapping[str, Pattern]] = {
    "no exchange": _no_exchange,
    "three places": _three_places,
    "turned operands": _turned_operands,
    "counts": _counts,
    "products": _products,
    "one word": _one_word(softmax, norm),
}
"""Patterns whose steps stay inside parts once the operands are at one place."""

ACROSS: Final[Mapping[str, Pattern]] = {
    "rows taken": _rows_taken,
    "two pads": _two_pads,
    "joined and stacked": _one_word(joined, stacked),
    "parts in place": _parts_in_place,
    "masked together": _masked_together,
}
"""Patterns with steps across parts, or with masks."""
