"""Patterns of sharded storage that is read, written and read again, over three rounds with writes from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from conformance.cases.graph.graph import Node
from conformance.cases.sharded.placement import Placement, Split, even_cuts
from conformance.specs.sharded.domain.patterns.listing import Sharded, counted

Pattern = Callable[[Sharded], list[Node]]


def _read_around(e: Sharded) -> list[Node]:
    """Gather, fold and turn storage, write all of it from another place, and do the same again."""
    at = e.put(counted(e.square, e.whole), e.whole, cut=True)
    before = _uses(e, at)
    e.assign(at, e.alu("add", e.put(counted(e.square, e.whole, 2), e.whole), e.const(1, at)))
    return [*before, *_uses(e, at), at]


def _uses(e: Sharded, at: Node) -> list[Node]:
    turned = e.turn(at, 1, 0)
    return [
        e.to(at),
        e.to(at, e.place(e.square)),
        *(e.fold(word, at, axis) for word in ("add", "max") for axis in (0, 1)),
        e.alu("add", turned, e.const(1, turned)),
    ]


def _written_between(e: Sharded) -> list[Node]:
    """Write the first or the last part of storage between two meetings over all parts, and compute with the later one.

    Whoever sees to the later meeting first, since more is computed of it, must not come to the write before the other.
    """
    axis = e.mesh[0]
    rows, columns = shape = (2 * axis.size, axis.size)
    across = Split(axis=1, along=(axis.name,), cuts=even_cuts(columns, axis.size))
    found = []
    for place in (Placement(), Placement(splits=(across,))):
        for begin in (0, rows - 2):
            at = e.by_rows(counted(shape, e.whole), e.whole)
            before = e.to(at, place)
            part = e.shrink(at, (begin, begin + 2), (0, columns))
            e.assign(part, e.const(3, part))
            after = e.to(at, place)
            found += [e.alu("add", after, e.const(1, after)), before]
    return found


def _other_shape(e: Sharded) -> list[Node]:
    """Name storage in another shape, before it is written and afterwards."""
    at = e.put(counted(e.square, e.whole), e.whole, cut=True)
    rows, columns = e.square
    shapes: list[tuple[int, ...]] = [(1, rows, columns), (rows, 1, columns), *([(rows * columns,)] if e.odd else [])]
    names = [e.asked.add("buf", shape, e.whole, device="d0", arg=at.arg) for shape in shapes]
    before = [e.alu("add", each, e.const(1, each)) for each in names]
    e.assign(at, e.put(counted(e.square, e.whole, 4), e.whole))
    after = [e.alu("add", each, e.const(1, each)) for each in names]
    return [*before, *after, e.fold("max", names[0], 0), at]


def _of_itself(e: Sharded) -> list[Node]:
    """Write storage with what it held in another order: turned round, shifted, and gathered on all devices."""
    turned, shifted, gathered = (e.put(counted(e.square, e.whole), e.whole, cut=True) for _ in range(3))
    e.assign(turned, e.flip(turned, e.split_axis(turned)))
    rows, columns = e.square
    e.assign(e.shrink(shifted, (0, rows - 1), (0, columns)), e.shrink(shifted, (1, rows), (0, columns)))
    whole = e.to(gathered)
    e.assign(gathered, e.alu("add", e.flip(whole, 0), e.const(1, whole)))
    square = e.put(counted((rows, rows), "int32"), "int32", cut=True)
    e.assign(square, e.moved("permute", (rows, rows), square, (1, 0)))
    return [turned, shifted, gathered, whole, square]


def _views_written(e: Sharded) -> list[Node]:
    """Write views of storage: across a bound, every second row, turned, one element, and one over another."""
    rows, columns = e.square
    one, two, three, four = (e.put(counted(e.square, e.whole), e.whole, cut=True) for _ in range(4))
    given = e.put(counted(e.square, e.whole, 60), e.whole)
    e.assign(e.shrink(one, (1, rows), (0, columns)), e.shrink(given, (0, rows - 1), (0, columns)))
    e.assign(e.shrink(one, (0, 2), (0, columns)), e.shrink(given, (rows - 2, rows), (0, columns)))
    steps = e.stride(two, 2, 1)
    e.assign(steps, e.stride(given, 2, 1))
    e.assign(e.shrink(two, (rows - 1, rows), (columns - 1, columns)), e.const(3, e.shrink(two, (0, 1), (0, 1))))
    e.assign(e.flip(three, 0), given)
    e.assign(e.moved("reshape", (rows * columns,), four), e.flat(e.flip(given, 1)))
    return [one, two, three, four, *_turned_and_written(e), e.fold("max", one, 0), steps, e.alu("sub", three, two)]


def _turned_and_written(e: Sharded) -> list[Node]:
    """Write storage that is cut along each axis with its axes turned, all of it and a part."""
    rows, columns = e.square
    given, found = e.put(counted((columns, rows), e.whole, 90), e.whole), []
    for axis, extent in enumerate(e.square):
        split = Split(axis=axis, along=(e.mesh[0].name,), cuts=even_cuts(extent, e.mesh[0].size))
        whole, part = (e.held(counted(e.square, e.whole), e.whole, Placement(splits=(split,))) for _ in range(2))
        e.assign(e.turn(whole, 1, 0), given)
        e.assign(e.shrink(e.turn(part, 1, 0), (1, columns), (0, rows)), e.shrink(given, (0, columns - 1), (0, rows)))
        found += [whole, part]
    return found


def _replicas_kept(e: Sharded) -> list[Node]:
    """Take the replica of one device, write the storage, and ask for both; then write what was taken back."""
    at = e.held(counted(e.square, e.whole), e.whole, Placement())
    alone = {axis.name: tuple(n == axis.size - 1 for n in range(axis.size)) for axis in e.mesh[:1]}
    taken = e.to(at, Placement(masks=alone) if e.odd else Placement())
    clone = e.to(at)
    after = e.alu("add", at, e.const(1, at))
    e.assign(at, e.put(counted(e.square, e.whole, 30), e.whole))
    cut = e.put(counted(e.square, e.whole, 7), e.whole, cut=True)
    kept = e.to(cut, e.program.at(cut))
    e.assign(cut, taken)
    return [taken, clone, after, at, kept, cut, e.alu("sub", taken, at)]


def _swapped(e: Sharded) -> list[Node]:
    """Swap two buffers at two places by way of a value, and write one from a fold of the other."""
    one, two = (e.put(counted(e.square, e.whole, start), e.whole, cut=True) for start in (1, 50))
    old = e.alu("add", one, e.const(1, one))
    e.assign(one, two)
    e.assign(two, old)
    sums = e.fold("max", one, 1)
    e.assign(two, e.moved("expand", e.square, e.moved("reshape", (e.rows, 1), sums)))
    return [one, two, old, sums, e.alu("sub", two, one)]


def _rounds_alike(e: Sharded) -> list[Node]:
    """Read two buffers of equal content and place, one of which is written."""
    place = e.cut(e.square)
    one, two = (e.held(counted(e.square, e.whole), e.whole, place) for _ in range(2))
    before = [e.fold("add", each, 0) for each in (one, two)]
    e.assign(one, e.alu("add", two, e.const(1, two)))
    after = [e.fold("add", each, 0) for each in (one, two)]
    return [*before, *after, e.to(one), e.to(two), e.alu("sub", one, two)]


def _late_stored(e: Sharded) -> list[Node]:
    """Keep a pending fold of storage while the storage is written, and write storage with a pending fold."""
    at = e.put(counted(e.square, "int32"), "int32", cut=True)
    p = e.late(at, "add")
    (extent,) = (int(str(each)) for each in p.shape)
    target = e.put(np.zeros(extent, np.int64), "int32")
    e.assign(at, e.alu("neg", at))
    e.assign(target, p)
    return [p, e.to(p), target, at, e.alu("mul", p, target), e.alu("add", p, p)]


WHOLE: Final[Mapping[str, Pattern]] = {
    "read around a write": _read_around,
    "written between meetings": _written_between,
    "named in another shape": _other_shape,
    "replicas kept": _replicas_kept,
    "swapped": _swapped,
    "buffers alike": _rounds_alike,
}
"""Patterns that write whole buffers."""

VIEWS: Final[Mapping[str, Pattern]] = {
    "written with itself": _of_itself,
    "views written": _views_written,
    "pending and stored": _late_stored,
}
"""Patterns that write views, or keep what is pending."""
