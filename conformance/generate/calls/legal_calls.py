"""Collectives with legal attributes, as programs with effects use them.

Data is such that a program may apply a reduction again and again: integers, which wrap, bools, and floats under max and
min.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from conformance.cases.program.features import LONG
from conformance.cases.program.program import Attr
from conformance.cases.tensor.dtypes import kind
from conformance.generate import choices
from conformance.generate.calls.decisive_values import Values
from conformance.generate.calls.draft import TILED, Draft
from conformance.generate.calls.reductions import accepted, factors
from conformance.generate.calls.shapes import Shape, axis_of, root_of, same_axis, split
from conformance.reference.situations import MANY, PAST, PAST_BYTES, axis_word, rank_word

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

SHAPES_OF: Final[dict[str, choices.Choice[Shape]]] = {
    "whole": choices.lists(choices.sampled_from([2, 3, 1, 4]), min_size=1, max_size=2).map(tuple),
    "empty": choices.sampled_from([(0,), (2, 0), (0, 3)]),
}
"""Blocks that have an axis and elements, and blocks without elements; ``long`` ones have as many
elements as make them ``features.LONG`` bytes."""

_REDUCTIONS: Final = {
    family: choices.steered(names, ("reduction",), lambda op: (op,)) for family, names in REDUCTIONS.items()
}
REST: Final[choices.Choice[Shape]] = choices.sampled_from([(), (2,), (3,), (1, 2)])
COUNTS: Final = {
    "any": choices.sampled_from([1, 2, 0, 3]),
    "whole": choices.sampled_from([1, 2, 3]),
    "empty": choices.just(0),
}
UNITS: Final = choices.steered([*[1] * 30, MANY], ("extent",), lambda unit: ("many" if unit > 1 else "",))
"""Rows of which a part is a multiple."""

BOOLEANS: Final = choices.booleans()


@dataclass(frozen=True)
class Call:
    """One collective as a program uses it: attributes, the shape of its operand and the name of the data's pool."""

    op: str
    attrs: Mapping[str, Attr]
    operand: Shapes
    values: Values = "any"


Drawn = tuple[Draft, Call]
"""A call, and its draft, which has another dtype where the drawn one has no fit reductions."""


def alike(drawn: Draft, name: str, shape: Shape, values: Values = "any", /, **attrs: Attr) -> Drawn:
    """Return the call of an operation on blocks of one shape."""
    return drawn, Call(name, attrs, (shape,) * drawn.world, values)


def reduction(draw: choices.Draw, drawn: Draft) -> tuple[Draft, dict[str, Attr]]:
    """Draw a reduction that may be applied again and again, any where it is drawn to be used once."""
    if drawn.once:
        op = draw(_once(drawn.dtype))
        return drawn, {"op": op, "factor": draw(factors(drawn.dtype))} if op == "premul_sum" else {"op": op}
    drawn = replace(drawn, dtype="int32") if kind(drawn.dtype) == "complex" else drawn
    return drawn, {"op": draw(_REDUCTIONS[kind(drawn.dtype)])}


def shape_of(draw: choices.Draw, drawn: Draft, shapes: str, least: int = 0) -> Shape:
    """Draw the shape of a block, with as many axes as ``least`` or more."""
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
def _of_size(count: int, least: int) -> choices.Choice[Shape]:
    """Return shapes of ``count`` elements or a few more."""
    found = [(count,), (count + 1,), (4, -(-count // 4)), (2, 3, -(-count // 6))]
    return choices.steered([one for one in found if len(one) >= least], ("rank",), lambda one: (rank_word(len(one)),))


def root(draw: choices.Draw, drawn: Draft) -> int:
    """Draw the position of a root."""
    return draw(root_of(drawn.group_size))


def joining(draw: choices.Draw, drawn: Draft, shapes: str) -> tuple[Shape, int, bool]:
    """Draw a shape, the axis to join along or at, and whether blocks are joined along it."""
    tiled = draw(TILED)
    shape = shape_of(draw, drawn, shapes, least=tiled)
    return shape, draw(axis_of(len(shape) + (not tiled))), tiled


def splitting(draw: choices.Draw, drawn: Draft, shapes: str) -> tuple[Shape, int, bool]:
    """Draw a shape with an axis that divides, and whether pieces keep it."""
    tiled = shapes == "empty" or draw(TILED)
    if shapes in SIZES:
        piece = -(-great(drawn, shapes) // drawn.group_size)
        one = draw(_long_splits(piece, drawn.group_size, tiled))
        return one[0], draw(same_axis(one[1], len(one[0]))), tiled
    shape, at = split(draw, drawn.width, drawn.group_size, tiled=tiled, empty=shapes == "empty")
    return shape, draw(same_axis(at, len(shape))), tiled


@cache
def _long_splits(piece: int, size: int, tiled: bool) -> choices.Choice[tuple[Shape, int]]:
    """Return shapes of so many pieces, and the axis that is split."""
    found: list[tuple[Shape, int]] = [((piece * size,), 0), ((2, -(-piece // 2) * size), 1), ((size, 2, piece), 0)]
    if not tiled:
        found = [((size, piece), 0), ((piece, size), 1), ((2, size, -(-piece // 2)), 1)]
    return choices.steered(
        found, ("rank", "axis"), lambda one: (rank_word(len(one[0])), axis_word(one[1], len(one[0])))
    )


@cache
def _once(dtype: str) -> choices.Choice[str]:
    """Return the reductions of a dtype, of data that is reduced once."""
    return choices.steered(accepted(dtype), ("reduction",), lambda op: (op,))


@cache
def orders_of(size: int) -> choices.Choice[Any]:
    """Return the choice of an order of so many positions."""
    return choices.permutations(range(size))
