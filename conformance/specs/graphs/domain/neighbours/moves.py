"""Every ordered pair of movements, on storage and on a value, and every fold of what was moved, folded or empty.

Compilers make one movement of two, and push movement past operations and into folds. An entry is one such pair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, Final, get_args

import numpy as np

from conformance.cases.graph.elementwise import Fold
from conformance.cases.graph.graph import Node
from conformance.specs.graphs.domain.listing import Listing
from conformance.specs.schedules.domain.graph_words import taking

Form = Callable[[Listing, Node], Node]
Entry = tuple[Any, ...]

FOLDED: Final = ("int32", "float32", "bool", "uint8", "bfloat16", "int16", "float16", "int64", "uint32", "float64")

SHAPES: Final = ((), (1,), (5,), (4, 1), (2, 3, 2), (67,), (0, 3))


def _extents(of: Node) -> tuple[int, ...]:
    return tuple(int(extent) for extent in of.shape)


def _last(of: Node, pair: tuple[int, int], rest: tuple[int, int] | None = None) -> tuple[tuple[int, int], ...]:
    """Return a pair for each axis: one for the last, another or all of it for the others."""
    *lead, _ = _extents(of)
    return (*((0, extent) if rest is None else rest for extent in lead), pair)


def _reshaped(e: Listing, of: Node, shape: Sequence[int]) -> Node:
    return e.asked.moved("reshape", tuple(shape), of)


def _split(e: Listing, of: Node) -> Node:
    *lead, last = _extents(of)
    return _reshaped(e, of, (*lead, 2, last // 2) if last % 2 == 0 else (*lead, last, 1))


def _spread_first(e: Listing, of: Node) -> Node:
    shape = _extents(of)
    return e.asked.moved("expand", (2, *shape), _reshaped(e, of, (1, *shape)))


def _spread_column(e: Listing, of: Node) -> Node:
    one = e.shrink(of, *_last(of, (0, 1)))
    return e.asked.moved("expand", (*_extents(of)[:-1], 3), one)


def _tail(e: Listing, of: Node) -> Node:
    *lead, last = _extents(of)
    return e.shrink(of, *((extent - 1, extent) for extent in lead), (max(0, last - 2), last))


def _inner(e: Listing, of: Node) -> Node:
    return e.shrink(of, *((min(1, extent - 1), extent) for extent in _extents(of)))


def _most(e: Listing, of: Node) -> Node:
    return e.shrink(of, *((0, max(1, extent - 1)) for extent in _extents(of)))


FORMS: Final[Mapping[str, Form]] = {
    "turned round": lambda e, of: e.turn(of, *range(1, len(of.shape)), 0),
    "turned over": lambda e, of: e.turn(of, *reversed(range(len(of.shape)))),
    "first cut off": _inner,
    "last cut off": _most,
    "last corner": _tail,
    "padded before": lambda e, of: e.pad(of, *_last(of, (2, 0), (1, 0))),
    "padded behind": lambda e, of: e.pad(of, *_last(of, (0, 3), (0, 1))),
    "every second": lambda e, of: e.stride(of, *(2 for _ in of.shape)),
    "backwards by threes": lambda e, of: e.stride(of, *(-1 for _ in of.shape[1:]), -3),
    "flipped": lambda e, of: e.flip(of, len(of.shape) - 1),
    "one axis": lambda e, of: _reshaped(e, of, (int(np.prod(_extents(of))),)),
    "last axis split": _split,
    "repeated before": _spread_first,
    "column repeated": _spread_column,
    "not": lambda e, of: e.alu("not", of),
    "one more": lambda e, of: e.alu("add", of, e.const(1, of)),
}
"""Movements by what they do, and two operations that movement may pass, of which zeros do not stay zeros."""

MOVES: Final[tuple[Entry, ...]] = tuple(
    ("moved", stored, *pair) for pair in product(FORMS, FORMS) for stored in (True, False)
)

_TURNED: Final = ("turned round", "turned over")

COUNTED: Final[tuple[Entry, ...]] = tuple(("counted", *pair) for pair in product(("iota", "const"), FORMS))

WIDER: Final = (("float16", "float32"), ("bfloat16", "float32"), ("float32", "float64"), ("int8", "int32"))
"""Dtypes, each with one that it is folded in."""

AXES: Final = ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))

FOLDS: Final[tuple[Entry, ...]] = (
    *(("fold of moved", *each) for each in product(FORMS, get_args(Fold), (0, -1))),
    *(("fold of axes", *each) for each in product(("max", "add", "xor"), AXES)),
    *(("fold in a wider", *each) for each in product(WIDER, ("add", "mul"), ((0,), (1,), (0, 1)))),
    *(("fold of fold", first, then) for first, then in product(get_args(Fold), get_args(Fold))),
    *(("fold of nothing", dtype, fold, (0,)) for dtype, fold in product(FOLDED, get_args(Fold))),
    *(("fold of nothing", *each) for each in product(("int32", "float32"), get_args(Fold), ((0, 1), (0, 1, 2)))),
    *(("fold of pad", *each) for each in product(get_args(Fold), ((2, 0), (0, 3), (1, 1)), (0, 1))),
    *(("fold of many", *each) for each in product(("bool", "uint8", "int8"), ("add", "mul", "xor"), (128, 256, 257))),
)

SHAPED: Final[tuple[Entry, ...]] = tuple(
    ("shaped", shape, what)
    for shape, what in product(SHAPES, ("not", "add", "where", "cast", "contig", "copy", "gather", "max", "eq"))
)

PADDED: Final[tuple[Entry, ...]] = tuple(
    ("padded", *each)
    for each in product(("not", "eq", "exp2", "recip", "div", "max", "where", "add"), (0, 1), ((1, 0), (0, 2)))
)
"""Operations whose results of zeros are no zeros, and an axis that alone is padded then, on one side."""

GATHERED: Final[tuple[Entry, ...]] = tuple(
    ("gathered", *each)
    for each in product(("uint8", "int8", "uint16", "int64", "uint32", "int32"), (0, 1), ((3,), (2, 2)))
)

EVERY: Final = (*MOVES, *COUNTED, *FOLDS, *PADDED, *SHAPED, *GATHERED)


def moved(e: Listing, entries: Sequence[tuple[int, Entry]]) -> list[Node]:
    """List the entries, each with its number among all, and return what is to be asked for."""
    # Extents that are alike let what is done to the wrong axis keep its shape.
    cube, flat = e.buf(np.arange(64).reshape(4, 4, 4), e.whole), e.buf(np.arange(1, 25).reshape(4, 6), e.whole)
    starts = {"stored": cube, "computed": e.alu("not", flat), "turned": e.alu("not", cube)}
    once: dict[tuple[str, str], Node] = {}
    found = []
    for number, (kind, *rest) in entries:
        if kind == "moved":
            stored, first, then = rest
            begin = "stored" if stored else "turned" if {first, then} <= {*_TURNED} else "computed"
            if (begin, first) not in once:
                once[begin, first] = FORMS[first](e, starts[begin])
            found.append(FORMS[then](e, once[begin, first]))
        else:
            found += _KINDS[kind](e, number, *rest)
    return found


def _counted(e: Listing, number: int, leaf: str, form: str) -> list[Node]:
    """Move what is counted, or a constant, and compute with it."""
    rank = 1 + number % 3
    shape = (4, 5, 3)[:rank]
    at = e.asked.add("iota", shape, e.whole, device="d0", arg=number // 3 % rank)
    at = at if leaf == "iota" else e.const(5, at)
    made = FORMS[form](e, at)
    return [made, e.alu("not", made)]


def _negative(e: Listing, shape: tuple[int, ...], dtype: str) -> Node:
    """Return a buffer of small numbers, below zero where there are such: zeros that come to a fold of them show."""
    values = np.arange(int(np.prod(shape))).reshape(shape) % 3
    if dtype == "bool":
        return e.buf(values, dtype)
    return e.buf((values + 1) * (1 if dtype.startswith("u") else -1), dtype)


def _fold_of_moved(e: Listing, number: int, form: str, fold: str, end: int) -> list[Node]:
    words = (fold, "not", "add") if form in ("not", "one more") else (fold,)
    every = [dtype for dtype in FOLDED if len(taking(dtype, words)) == len(words)]
    at = FORMS[form](e, _negative(e, (2, 6), every[number % len(every)]))
    return [e.fold(fold, at, end % len(at.shape))]


def _fold_of_fold(e: Listing, number: int, first: str, then: str) -> list[Node]:
    every = [dtype for dtype in FOLDED if len(taking(dtype, (first, then))) == len({first, then}) + (first == then)]
    at = _negative(e, (3, 5), every[number % len(every)])
    return [e.fold(then, e.fold(first, at, number % 2), 0)]


def _fold_of_axes(e: Listing, number: int, fold: str, axes: tuple[int, ...]) -> list[Node]:
    return [e.fold(fold, e.buf(np.arange(27).reshape(3, 3, 3) * 7 % 27, ("int32", "uint8")[number % 2]), *axes)]


def _fold_in_wider(e: Listing, _: int, pair: tuple[str, str], fold: str, axes: tuple[int, ...]) -> list[Node]:
    """Fold numbers whose partial results the narrow dtype does not hold."""
    most = {"float16": 60000.0, "bfloat16": 256.0, "float32": 2.0**24, "int8": 100}[pair[0]]
    values = np.array([[most, 1, 1, 1], [most / 2, 1, 1, -most], [-most, most, -1, 1]])
    return [e.fold(fold, e.buf(values, pair[0]), *axes, acc=pair[1])]


def _fold_of_nothing(e: Listing, _: int, dtype: str, fold: str, axes: tuple[int, ...]) -> list[Node]:
    """Fold an axis without elements, alone or with others that have some."""
    return [e.fold(fold, e.buf(np.zeros((0, 3, 2)), dtype), *axes)] if taking(dtype, (fold,)) else []


def _fold_of_pad(e: Listing, number: int, fold: str, sides: tuple[int, int], axis: int) -> list[Node]:
    """Fold an axis that alone was padded: the zeros are among its terms."""
    every = [dtype for dtype in FOLDED if taking(dtype, (fold,))]
    at = _negative(e, (3, 4), every[number % len(every)])
    return [e.fold(fold, e.pad(at, *(sides if each == axis else (0, 0) for each in range(2))), axis)]


def _fold_of_many(e: Listing, number: int, dtype: str, fold: str, count: int) -> list[Node]:
    """Fold as many ones as a counter of few bits comes round at."""
    ones = e.buf(np.ones((count, 2)), dtype)
    return [e.fold(fold, ones, *((0, 1) if number % 2 else (0,)))]


def _padded(e: Listing, _: int, word: str, axis: int, sides: tuple[int, int]) -> list[Node]:
    """Compute, and pad one axis of what was made."""
    at = e.buf([[1, 2, 4], [8, 2, 1]], "float32" if word in ("exp2", "recip", "div") else e.whole)
    one = e.const(1, at)
    made = e.alu(word, at) if word in ("not", "exp2", "recip") else e.alu(word, at, one) if word != "where" else None
    made = made or e.alu("where", e.alu("lt", at, one), at, one)
    return [e.pad(made, *(sides if each == axis else (0, 0) for each in range(2)))]


def _gathered(e: Listing, _: int, dtype: str, axis: int, indexed: tuple[int, ...]) -> list[Node]:
    """Take rows or columns by indices near the last, in one dimension or two."""
    held = e.buf(np.arange(300).reshape((100, 3) if axis == 0 else (3, 100)), "int32")
    index = e.buf(np.array([99, 50, 0, 86])[: int(np.prod(indexed))].reshape(indexed), dtype)
    shape = (*indexed, 3) if axis == 0 else (3, *indexed)
    return [e.asked.add("gather", shape, held.dtype, held, index, arg=axis)]


def _shaped(e: Listing, _: int, shape: tuple[int, ...], what: str) -> list[Node]:
    """Compute on a shape: without axes, of one element, of none, and of more than vectors divide."""
    count = int(np.prod(shape))
    x, y = (e.buf((np.arange(count).reshape(shape) * step + 2) % 11 // step, e.whole) for step in (1, 3))
    if what in ("not", "contig", "cast", "copy"):
        made = {
            "not": lambda: e.alu("not", x),
            "contig": lambda: e.asked.add("contig", x.shape, x.dtype, x),
            "cast": lambda: e.cast(x, "float64"),
            "copy": lambda: e.asked.add("copy", x.shape, x.dtype, x, device="d0", arg=True),
        }
        return [made[what]()]
    if what == "where":
        return [e.alu("where", e.alu("lt", y, x), x, y), e.alu("where", e.alu("lt", x, y), x, y)]
    if what == "max":
        return [e.fold("max", x, *range(len(shape)))] if shape and count else []
    if what == "gather":
        if not shape or not count:
            return []
        axis = len(shape) - 1
        extent = shape[axis]
        index = e.buf([extent - 1, 0, extent // 2], "int32")
        return [e.asked.add("gather", (*shape[:axis], 3), x.dtype, x, index, arg=axis)]
    return [e.alu(what, x, y)]


_KINDS: Final[Mapping[str, Callable[..., list[Node]]]] = {
    "counted": _counted,
    "fold of moved": _fold_of_moved,
    "fold of fold": _fold_of_fold,
    "fold of axes": _fold_of_axes,
    "fold in a wider": _fold_in_wider,
    "fold of nothing": _fold_of_nothing,
    "fold of pad": _fold_of_pad,
    "fold of many": _fold_of_many,
    "padded": _padded,
    "gathered": _gathered,
    "shaped": _shaped,
}
