"""Collectives with legal attributes, as programs with effects use them.

Data is such that a program may apply a reduction again and again: integers, which wrap, bools, and floats under max and
min.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from conformance.cases.program.features import LONG
from conformance.cases.program.program import Attr
from conformance.cases.program.situations import PAST, PAST_BYTES, axis_word, rank_word
from conformance.cases.tensor.dtypes import kind
from conformance.specs.domains import choose
from conformance.specs.domains.domain import TILED, Draft
from conformance.specs.domains.reducing import accepted, legal_local_axes
from conformance.specs.domains.shaping import Shape, axis_of, root_of, same_axis, split

Shapes = tuple[Shape, ...]
"""One shape for each rank."""

REDUCTIONS: Final = {
    "bool": ("or", "max", "xor", "and", "min"),
    "integer": ("sum", "max", "sum", "xor", "sum", "min", "product"),
    "float": ("max", "min"),
}
"""What may be applied again and again and stays exact; complex numbers become int32. Most change nothing the second
time, which hides what happened once too often or not at all: sums do."""

SIZES: Final = {"long": (LONG, 8 * PAST), "past": (PAST_BYTES, PAST)}
"""Bytes, and elements, from which a block is long, or past thresholds."""

SHAPES_OF: Final[dict[str, choose.Choice[Shape]]] = {
    "whole": choose.lists(choose.sampled_from([2, 3, 1, 4]), min_size=1, max_size=2).map(tuple),
    "empty": choose.sampled_from([(0,), (2, 0), (0, 3)]),
}
"""Blocks that have an axis and elements, and blocks without elements; ``long`` ones have as many
elements as make them ``features.LONG`` bytes."""

_FACTORS: Final = choose.sampled_from([0.5, 2.0, 1.0])
_REDUCTIONS: Final = {
    family: choose.steered(names, ("reduction",), lambda op: (op,)) for family, names in REDUCTIONS.items()
}
_REST: Final[choose.Choice[Shape]] = choose.sampled_from([(), (2,), (3,), (1, 2)])
_COUNTS: Final = {
    "any": choose.sampled_from([1, 2, 0, 3]),
    "whole": choose.sampled_from([1, 2, 3]),
    "empty": choose.just(0),
}
_BOOLEANS: Final = choose.booleans()
_POSITIONS: Final = choose.steered(["max", "min"], ("reduction",), lambda op: (op,))


@dataclass(frozen=True)
class Call:
    """One collective as a program uses it: attributes, the shape of its operand and the name of the data's pool."""

    op: str
    attrs: Mapping[str, Attr]
    operand: Shapes
    values: str = "any"


def call_of(draw: choose.Draw, op: str, drawn: Draft, shapes: str) -> tuple[Draft, Call]:
    """Draw a call of ``op``; return it and the draft, with another dtype where the drawn one has no fit reductions."""
    return _CALLS[op](draw, drawn, shapes)


Drawn = tuple[Draft, Call]


def _alike(drawn: Draft, name: str, shape: Shape, values: str = "any", /, **attrs: Attr) -> Drawn:
    return drawn, Call(name, attrs, (shape,) * drawn.world, values)


def _reduction(draw: choose.Draw, drawn: Draft) -> tuple[Draft, dict[str, Attr]]:
    if drawn.once:
        op = draw(_once(drawn.dtype))
        return drawn, {"op": op, "factor": draw(_FACTORS)} if op == "premul_sum" else {"op": op}
    drawn = replace(drawn, dtype="int32") if kind(drawn.dtype) == "complex" else drawn
    return drawn, {"op": draw(_REDUCTIONS[kind(drawn.dtype)])}


def _all_reduce(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    drawn, attrs = _reduction(draw, drawn)
    shape, values = _shape(draw, drawn, shapes), str(attrs["op"])
    if drawn.once and drawn.axes:
        local, values = legal_local_axes(drawn, shape, values)
        attrs |= {"local_axes": local} if local else {}
    return _alike(drawn, "all_reduce", shape, values, **attrs)


def _arg_reduce(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    drawn = replace(drawn, dtype="int32") if kind(drawn.dtype) == "complex" else drawn
    op = draw(_POSITIONS)
    return _alike(drawn, "arg_reduce", _shape(draw, drawn, shapes), op, op=op)


def _reduce(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    drawn, attrs = _reduction(draw, drawn)
    attrs["root"] = _root(draw, drawn)
    return _alike(drawn, "reduce", _shape(draw, drawn, shapes), str(attrs["op"]), **attrs)


def _broadcast(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    return _alike(drawn, "broadcast", _shape(draw, drawn, shapes), root=_root(draw, drawn))


def _permute(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    to = draw(_orders(drawn.group_size))
    pairs = tuple(enumerate(to))[: None if draw(_BOOLEANS) else max(len(to) - 1, 1)]
    return _alike(drawn, "permute", _shape(draw, drawn, shapes), pairs=pairs)


def _shuffle(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    return _alike(drawn, "shuffle", _shape(draw, drawn, shapes), sources=tuple(draw(_orders(drawn.group_size))))


def _all_gather(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    shape, axis, tiled = _joining(draw, drawn, shapes)
    return _alike(drawn, "all_gather", shape, axis=axis, tiled=tiled)


def _gather(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    shape, axis, tiled = _joining(draw, drawn, shapes)
    return _alike(drawn, "gather", shape, root=_root(draw, drawn), axis=axis, tiled=tiled)


def _reduce_scatter(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    drawn, attrs = _reduction(draw, drawn)
    shape, axis, tiled = _splitting(draw, drawn, shapes)
    return _alike(drawn, "reduce_scatter", shape, str(attrs["op"]), **attrs, axis=axis, tiled=tiled)


def _scatter(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    shape, axis, tiled = _splitting(draw, drawn, shapes)
    return _alike(drawn, "scatter", shape, root=_root(draw, drawn), axis=axis, tiled=tiled)


def _all_to_all(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    shape, axis, tiled = _splitting(draw, drawn, shapes)
    # The same axis three times in four: the result then takes the operand's place.
    concat = draw(axis_of(len(shape))) if draw(_BOOLEANS) else axis
    return _alike(drawn, "all_to_all", shape, split_axis=axis, concat_axis=concat, tiled=tiled)


def _all_to_all_uneven(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    size, long = drawn.group_size, shapes in SIZES
    unit = -(-great(drawn, shapes) // size) if long else 1
    sends = [[unit * draw(_COUNTS["whole" if long else shapes]) for _ in range(size)] for _ in range(size)]
    receives = tuple(tuple(sends[q][p] for q in range(size)) for p in range(size))
    at = {rank: p for group in drawn.rank_groups() for p, rank in enumerate(group)}
    rest = () if long else draw(_REST)
    operand = tuple((sum(sends[at.get(rank, 0) % size]), *rest) for rank in range(drawn.world))
    attrs: dict[str, Attr] = {"sends": tuple(map(tuple, sends)), "receives": receives}
    return drawn, Call("all_to_all_uneven", attrs, operand)


_CALLS: Final[dict[str, Callable[[choose.Draw, Draft, str], Drawn]]] = {
    "all_gather": _all_gather,
    "all_reduce": _all_reduce,
    "all_to_all": _all_to_all,
    "all_to_all_uneven": _all_to_all_uneven,
    "arg_reduce": _arg_reduce,
    "broadcast": _broadcast,
    "gather": _gather,
    "permute": _permute,
    "reduce": _reduce,
    "reduce_scatter": _reduce_scatter,
    "scatter": _scatter,
    "shuffle": _shuffle,
}

CALLED: Final = tuple(_CALLS)
"""The operations that programs with effects are drawn for: those that make of one block a rank another."""


def _shape(draw: choose.Draw, drawn: Draft, shapes: str, least: int = 0) -> Shape:
    if shapes == "any":
        return drawn.shape(least)
    if shapes in SIZES:
        return draw(_of_size(great(drawn, shapes), least))
    return draw(SHAPES_OF[shapes])


def great(drawn: Draft, shapes: str) -> int:
    """Return how many elements a block of a size has."""
    width, most = SIZES[shapes]
    return min(-(-width // drawn.width), most)


@cache
def _of_size(count: int, least: int) -> choose.Choice[Shape]:
    """Return shapes of ``count`` elements or a few more."""
    found = [(count,), (count + 1,), (4, -(-count // 4)), (2, 3, -(-count // 6))]
    return choose.steered([one for one in found if len(one) >= least], ("rank",), lambda one: (rank_word(len(one)),))


def _root(draw: choose.Draw, drawn: Draft) -> int:
    return draw(root_of(drawn.group_size))


def _joining(draw: choose.Draw, drawn: Draft, shapes: str) -> tuple[Shape, int, bool]:
    """Draw a shape, the axis to join along or at, and whether blocks are joined along it."""
    tiled = draw(TILED)
    shape = _shape(draw, drawn, shapes, least=tiled)
    return shape, draw(axis_of(len(shape) + (not tiled))), tiled


def _splitting(draw: choose.Draw, drawn: Draft, shapes: str) -> tuple[Shape, int, bool]:
    """Draw a shape with an axis that divides, and whether pieces keep it."""
    tiled = shapes == "empty" or draw(TILED)
    if shapes in SIZES:
        piece = -(-great(drawn, shapes) // drawn.group_size)
        one = draw(_long_splits(piece, drawn.group_size, tiled))
        return one[0], draw(same_axis(one[1], len(one[0]))), tiled
    shape, at = split(draw, drawn.width, drawn.group_size, tiled=tiled, empty=shapes == "empty")
    return shape, draw(same_axis(at, len(shape))), tiled


@cache
def _long_splits(piece: int, size: int, tiled: bool) -> choose.Choice[tuple[Shape, int]]:
    """Return shapes of so many pieces, and the axis that is split."""
    found: list[tuple[Shape, int]] = [((piece * size,), 0), ((2, -(-piece // 2) * size), 1), ((size, 2, piece), 0)]
    if not tiled:
        found = [((size, piece), 0), ((piece, size), 1), ((2, size, -(-piece // 2)), 1)]
    return choose.steered(found, ("rank", "axis"), lambda one: (rank_word(len(one[0])), axis_word(one[1], len(one[0]))))


@cache
def _once(dtype: str) -> choose.Choice[str]:
    """Return the reductions of a dtype, of data that is reduced once."""
    return choose.steered(accepted(dtype), ("reduction",), lambda op: (op,))


@cache
def _orders(size: int) -> choose.Choice[Any]:
    return choose.permutations(range(size))
