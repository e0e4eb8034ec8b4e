"""Collectives with legal attributes, as programs with effects use them.

Data is such that a program may apply a reduction again and again: integers, which wrap, bools, and floats under max and
min.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from conformance.cases.dtypes import NUMPY, kind
from conformance.cases.features import LONG
from conformance.cases.program import Attr
from conformance.specs import choose
from conformance.specs.domain import SHAPES, Draft, Shape

Shapes = tuple[Shape, ...]
"""One shape for each rank."""

REDUCTIONS: Final = {
    "bool": ("or", "max", "xor", "and", "min"),
    "integer": ("sum", "max", "sum", "xor", "sum", "min", "product"),
    "float": ("max", "min"),
}
"""What may be applied again and again and stays exact; complex numbers become int32. Most change nothing the second
time, which hides what happened once too often or not at all: sums do."""

SHAPES_OF: Final[dict[str, choose.Choice[Shape]]] = {
    "any": SHAPES,
    "whole": choose.lists(choose.sampled_from([2, 3, 1, 4]), min_size=1, max_size=2).map(tuple),
    "empty": choose.sampled_from([(0,), (2, 0), (0, 3)]),
}
"""Blocks of any shape, blocks that have an axis and elements, and blocks without elements; ``long`` ones have as many
elements as make them ``features.LONG`` bytes."""

PIECES: Final = {"any": [1, 2, 3, 0, 16], "whole": [1, 2, 3], "empty": [0]}

_REDUCTIONS: Final = {family: choose.sampled_from(names) for family, names in REDUCTIONS.items()}
_PIECES: Final = {kind_: choose.sampled_from(pieces) for kind_, pieces in PIECES.items()}
_REST: Final[choose.Choice[Shape]] = choose.sampled_from([(), (2,), (3,), (1, 2)])
_COUNTS: Final = {
    "any": choose.sampled_from([1, 2, 0, 3]),
    "whole": choose.sampled_from([1, 2, 3]),
    "empty": choose.just(0),
}
_BOOLEANS: Final = choose.booleans()
_POSITIONS: Final = choose.sampled_from(["max", "min"])


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


def _reduction(draw: choose.Draw, drawn: Draft) -> tuple[Draft, str]:
    drawn = replace(drawn, dtype="int32") if kind(drawn.dtype) == "complex" else drawn
    return drawn, draw(_REDUCTIONS[kind(drawn.dtype)])


def _all_reduce(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    drawn, op = _reduction(draw, drawn)
    return _alike(drawn, "all_reduce", _shape(draw, drawn, shapes), op, op=op)


def _arg_reduce(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    drawn = replace(drawn, dtype="int32") if kind(drawn.dtype) == "complex" or draw(_BOOLEANS) else drawn
    op = draw(_POSITIONS)
    return _alike(drawn, "arg_reduce", _shape(draw, drawn, shapes), op, op=op)


def _reduce(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    drawn, op = _reduction(draw, drawn)
    return _alike(drawn, "reduce", _shape(draw, drawn, shapes), op, op=op, root=_root(draw, drawn))


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
    drawn, op = _reduction(draw, drawn)
    shape, axis, tiled = _splitting(draw, drawn, shapes)
    return _alike(drawn, "reduce_scatter", shape, op, op=op, axis=axis, tiled=tiled)


def _scatter(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    shape, axis, tiled = _splitting(draw, drawn, shapes)
    return _alike(drawn, "scatter", shape, root=_root(draw, drawn), axis=axis, tiled=tiled)


def _all_to_all(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    shape, axis, tiled = _splitting(draw, drawn, shapes)
    # The same axis three times in four: the result then takes the operand's place.
    concat = draw(_below(len(shape))) if draw(_BOOLEANS) else axis
    return _alike(drawn, "all_to_all", shape, split_axis=axis, concat_axis=concat, tiled=tiled)


def _all_to_all_uneven(draw: choose.Draw, drawn: Draft, shapes: str) -> Drawn:
    size, long = drawn.group_size, shapes == "long"
    unit = -(-_shape(draw, drawn, shapes)[0] // size) if long else 1
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


def _shape(draw: choose.Draw, drawn: Draft, shapes: str) -> Shape:
    return (-(-LONG // NUMPY[drawn.dtype].itemsize),) if shapes == "long" else draw(SHAPES_OF[shapes])


def _root(draw: choose.Draw, drawn: Draft) -> int:
    return draw(_below(drawn.group_size))


def _joining(draw: choose.Draw, drawn: Draft, shapes: str) -> tuple[Shape, int, bool]:
    """Draw a shape, the axis to join along or at, and whether blocks are joined along it."""
    shape = _shape(draw, drawn, shapes)
    tiled = bool(shape) and not draw(_BOOLEANS)
    return shape, draw(_below(len(shape) + (not tiled))), tiled


def _splitting(draw: choose.Draw, drawn: Draft, shapes: str) -> tuple[Shape, int, bool]:
    """Draw a shape with an axis that divides, and whether pieces keep it."""
    tiled = shapes == "empty" or not draw(_BOOLEANS)
    if shapes == "long":
        piece = -(-_shape(draw, drawn, shapes)[0] // drawn.group_size)
        return ((piece * drawn.group_size,) if tiled else (drawn.group_size, piece)), 0, tiled
    rest = draw(_REST)
    at = draw(_below(len(rest) + 1))
    extent = drawn.group_size * (draw(_PIECES[shapes]) if tiled else 1)
    return (*rest[:at], extent, *rest[at:]), at, tiled


@cache
def _below(count: int) -> choose.Choice[int]:
    return choose.integers(0, count - 1)


@cache
def _orders(size: int) -> choose.Choice[Any]:
    return choose.permutations(range(size))
