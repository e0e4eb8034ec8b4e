"""Patterns of sharded tensors that move: to other places and back, and through movement along every axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import REPLICATED, Placement, Split, even_cuts
from conformance.cases.tensor.dtypes import kind
from conformance.reference.sharded.placing import shape_of
from conformance.specs.sharded.domain.patterns.listing import Sharded, below, counted
from conformance.specs.sharded.domain.places import one_real

Pattern = Callable[[Sharded], list[Node]]

_BITS: Final = (np.nan, -np.inf, np.inf, -0.0, 0.0, 1.0, -2.5, 2.0**-14, 3.0, -1.0)

LEGS: Final = 6
"""Moves of one value, one after another: six cases of a run have as many pairs as a mesh of one axis has."""


def _there_and_back(e: Sharded) -> list[Node]:
    """Move a value from place to place, each time to where it was not yet, and to where it began."""
    found = []
    for dtype in (e.whole, e.real):
        at = e.put(counted(e.square, dtype), dtype)
        begun = e.program.at(at)
        for _ in range(LEGS):
            at = e.to(at, e.place(e.square))
            found.append(at)
        found.append(e.to(at, begun))
    return found


def _from_one_place(e: Sharded) -> list[Node]:
    """Move a value that is cut from its place to several."""
    at = e.put(counted(e.square, e.whole), e.whole, cut=True)
    return [e.to(at, e.place(e.square)) for _ in range(LEGS)] + [e.to(at)]


def _every_bit(e: Sharded) -> list[Node]:
    """Move and turn elements whose bits a conversion or a sum would change."""
    large = [2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1, 2**31, -1, 1, 2**62 + 1]
    shape = (e.rows, 2)
    dealt = {
        dtype: np.array([pool[n % len(pool)] for n in range(2 * e.rows)], object).reshape(shape)
        for dtype, pool in ((e.real, _BITS), ("int64", large), ("bool", [True, False, True]))
    }
    found = []
    for dtype, values in dealt.items():
        at = e.put(values, dtype, cut=True)
        found += [e.to(at, e.place(shape)), e.to(e.moved("permute", (2, e.rows), at, (1, 0))), e.to(at)]
    return found


def _moved_masked(e: Sharded) -> list[Node]:
    """Do every movement to a tensor of which one part is real, and fold and gather what comes of it."""
    shape = (3, 3)
    found: list[Node] = []
    for number in range(2):
        axis = number
        place = one_real(shape, e.mesh, axis, (e.mesh[0].size - 1) * number)
        at = e.held(below(shape, e.signed), e.signed, place)
        across: list[tuple[int, int]] = [(0, 0), (0, 0)]
        across[1 - axis] = (1, 2)
        moved = [
            e.moved("permute", shape, at, (1, 0)),
            e.moved("flip", shape, at, (1 - axis,)),
            e.pad(at, *across),
            e.spread(at, 2),
            e.moved("reshape", (1, *shape, 1), at),
            e.stride(at, *((1, 2) if axis == 0 else (2, 1))),
            e.shrink(at, *((0, 3) if n == axis else (1, 3) for n in range(2))),
            e.flip(e.moved("permute", shape, at, (1, 0)), axis),
            e.cast(at, "float32"),
            e.alu("sub", at, e.const(2, at)),
        ]
        found += moved
        found += [e.fold(("max", "mul")[n % 2], each, n % len(each.shape)) for n, each in enumerate(moved)]
        found += [e.to(each) for each in moved[::3]]
    return found


def _borders(e: Sharded) -> list[Node]:
    """Put zeros around a tensor, along split axes and others, and fold elements that are all on one side of zero."""
    at = e.put(below(e.square, e.signed), e.signed, cut=True)
    sides = (((1, 0), (0, 0)), ((0, 2), (0, 0)), ((0, 0), (1, 1)), ((2, 1), (1, 0)))
    found = [e.pad(at, *each) for each in sides]
    rows, columns = e.square
    return [
        *found,
        *(e.fold(word, each, 0, 1) for word in ("max", "mul", "add") for each in found[::3]),
        e.shrink(found[1], (0, rows), (0, columns)),
        e.shrink(found[0], (1, rows + 1), (0, columns)),
        e.alu("add", e.pad(at, (1, 0), (0, 0)), e.pad(at, (0, 1), (0, 0))),
    ]


def _ranges(e: Sharded) -> list[Node]:
    """Take ranges of split axes: across parts, of one element beside a bound, of none, of all but one end."""
    found = []
    for _ in range(2):
        at = e.put(counted(e.square, e.whole), e.whole, cut=True)
        axis, shape = e.split_axis(at), e.square
        (split,) = [each for each in e.program.at(at).splits if each.axis == axis]
        inner = sorted({cut for cut in split.cuts if 0 < cut < shape[axis]}) or [1]
        pairs = [(cut - 1, cut) for cut in inner[:2]] + [(cut, cut + 1) for cut in inner[-2:]]
        pairs += [(1, shape[axis]), (0, shape[axis] - 1), (inner[0], inner[0]), (inner[-1] - 1, shape[axis])]
        found += [_range(e, at, axis, pair) for pair in dict.fromkeys(pairs)]
    return found


def _range(e: Sharded, at: Node, axis: int, pair: tuple[int, int]) -> Node:
    return e.shrink(at, *(pair if n == axis else (0, extent) for n, extent in enumerate(shape_of(at))))


def _turned_round(e: Sharded) -> list[Node]:
    """Turn a tensor round along the split axis, another and both, and take every so manieth element of it."""
    at = e.put(counted(e.square, e.whole), e.whole, cut=True)
    back = e.flip(e.flip(at, 0), 1)
    steps = ((2, 1), (1, 2), (3, 2), (-1, 1), (1, -2), (-2, -3))
    return [
        *(e.flip(at, *axes) for axes in ((0,), (1,), (0, 1))),
        e.flip(back, 0, 1),
        *(e.stride(at, *each) for each in steps),
        e.alu("sub", at, e.flip(at, e.split_axis(at))),
    ]


def _regrouped(e: Sharded) -> list[Node]:
    """Put elements on other axes: the split one joined with others, cut in two, and beside ones of its extent."""
    rows = e.rows
    at = e.put(counted((rows, 2), e.whole), e.whole, cut=True)
    cube = e.put(counted((2, rows, 2), e.whole, 5), e.whole, cut=True)
    long = e.put(counted((2 * rows,), e.whole, 3), e.whole, cut=True)
    last = Split(axis=1, along=(e.mesh[0].name,), cuts=even_cuts(rows, e.mesh[0].size))
    wide = e.held(counted((2, rows), e.whole), e.whole, Placement(splits=(last,)))
    alike = e.put(counted((rows, 2 * rows), e.whole) % 100, e.whole, cut=True) if rows < 6 else at
    # As many rows, or columns, as there are parts.
    size = max(e.mesh[0].size, 2)
    fit = e.put(counted((size * 3,), e.whole, 7), e.whole, cut=True) if e.odd else long
    parts = e.by_rows(counted((size * size,), e.whole), e.whole)
    return [
        *(e.moved("reshape", shape, at) for shape in ((2 * rows,), (rows, 1, 2), (1, rows, 2, 1), (2, rows))),
        *(e.moved("reshape", shape, cube) for shape in ((2 * rows, 2), (2, 2 * rows), (4 * rows,), (rows, 4))),
        *(e.moved("reshape", shape, wide) for shape in ((2 * rows,), (rows, 2))),
        *(e.moved("reshape", shape, long) for shape in ((rows, 2), (2, rows), (1, 2 * rows, 1))),
        *(e.moved("reshape", shape, fit) for shape in ((size, 3), (3, size)) if e.odd),
        e.moved("reshape", (size, size), parts),
        e.turn(e.moved("reshape", (size, size), parts), 1, 0),
        e.moved("reshape", (rows, 2, math.prod(shape_of(alike)) // rows // 2), alike),
        e.moved("reshape", (2 * rows,), e.moved("permute", (2, rows), at, (1, 0))),
    ]


def _kept_apart(e: Sharded) -> list[Node]:
    """Move axes that are split, and others beside them, without an element going elsewhere."""
    at = e.put(counted((e.rows, 2), e.whole), e.whole, cut=True)
    cube = e.put(counted((2, e.rows, 2), e.real), e.real, cut=True)
    return [
        e.moved("permute", (2, e.rows), at, (1, 0)),
        e.moved("permute", (e.rows, 2, 2), cube, (1, 2, 0)),
        e.moved("permute", (2, 2, e.rows), cube, (2, 0, 1)),
        e.spread(at, 3),
        e.moved("expand", (3, e.rows, 2), e.moved("reshape", (1, e.rows, 2), at)),
        e.moved("reshape", (e.rows, 1, 2), at),
        e.to(e.moved("permute", (e.rows, 2, 2), cube, (1, 2, 0)), REPLICATED),
    ]


def _converted(e: Sharded) -> list[Node]:
    """Convert what is split between kinds of dtypes, where a conversion of a part may go another way."""
    ints = e.put(np.resize([-1, 127, 0, -128, 1, 64, 2, -3], e.square), "int8", cut=True)
    reals = e.put(np.resize([1.5, -2.5, 0.0, -0.0, 0.25, 3.75, -0.5], e.square), e.real, cut=True)
    found = [e.cast(ints, *chain) for chain in (("uint8",), ("int32",), ("bool", "int8"), (e.real, "int8"))]
    found += [e.cast(reals, *chain) for chain in (("int32",), ("bool",), ("int8", e.real))]
    if kind(e.real) == "float" and e.real == "float32":
        found.append(e.asked.add("bitcast", reals.shape, "int32", reals))
    return [*found, e.to(found[0], e.place(e.square)), e.fold("max", found[2], 0)]


INSIDE: Final[Mapping[str, Pattern]] = {
    "there and back": _there_and_back,
    "from one place": _from_one_place,
    "every bit": _every_bit,
    "kept apart": _kept_apart,
    "converted": _converted,
}
"""Patterns whose steps stay inside parts, so that every framework has words for them."""

ACROSS: Final[Mapping[str, Pattern]] = {
    "moved while masked": _moved_masked,
    "borders": _borders,
    "ranges": _ranges,
    "turned round": _turned_round,
    "regrouped": _regrouped,
}
"""Patterns with steps across parts, which some frameworks refuse."""
