"""Shapes of blocks and axes of them, on both sides of what implementations tell apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

from conformance.generate import choices
from conformance.reference.situations import axis_word, extent_word, rank_word

Shape = tuple[int, ...]

SHAPES: Final[tuple[Shape, ...]] = (
    *((2,), (1,), (3,), (0,), (4,), (5,), (6,), (7,), (11,), (13,), (16,), (17,), (33,), (64,), (130,), (257,)),
    *((), (2, 2), (2, 3), (3, 2), (1, 1), (0, 3), (2, 0), (1, 3), (4, 1), (5, 1), (4, 3), (3, 5), (4, 4), (3, 11)),
    *((8, 8), (5, 13), (12, 5), (7, 9), (1024,), (1031,), (33, 32), (3, 347), (2, 3, 171)),
    *((2, 2, 2), (1, 1, 1), (2, 3, 2), (0, 1, 2), (2, 1, 0), (3, 1, 3), (1, 5, 1), (2, 3, 4), (3, 3, 3), (4, 4, 2)),
    *((1, 7), (1, 16), (1, 33), (1, 2, 2), (1, 3, 11)),
    *((1, 2, 3), (5, 3, 3), (2, 1, 2, 1), (1, 1, 1, 1), (2, 2, 3, 5), (2, 2, 2, 4), (1, 0, 2, 1)),
)
"""Extents of 0 and 1, and on both sides of the vector widths, chunk factors and alignments that implementations switch
at."""

RESTS: Final[tuple[Shape, ...]] = ((), (2,), (3,), (0,), (1,), (5,), (2, 3), (1, 2), (3, 1), (1, 1), (2, 1, 3))
"""What stands beside an axis that is split."""

PIECES: Final = (1, 2, 3, 0, 5, 8, 16, 33, 509)
"""Extents of one member's piece of an axis."""


def shape(draw: choices.Draw, width: int, members: int, *, least: int = 0) -> Shape:
    """Draw a shape of ``least`` axes or more for elements of ``width`` bytes, among ``members``."""
    return draw(_shapes(width, members, least))


@lru_cache(maxsize=128)
def _shapes(width: int, members: int, least: int) -> choices.Choice[Shape]:
    found = [one for one in SHAPES if len(one) >= least]
    return choices.steered(found, ("extent", "rank"), lambda one: (_extent(one, width, members), _rank(one)))


def split(draw: choices.Draw, width: int, members: int, *, tiled: bool, empty: bool = False) -> tuple[Shape, int]:
    """Draw a shape and an axis of it that splits into as many pieces as there are members.

    With ``empty`` there are no elements.
    """
    return draw(_splits(width, members, tiled, empty))


@lru_cache(maxsize=128)
def _splits(width: int, members: int, tiled: bool, empty: bool) -> choices.Choice[tuple[Shape, int]]:
    found = [
        ((*rest[:at], members * piece, *rest[at:]), at)
        for rest in RESTS
        for piece in (PIECES if tiled else (1,))
        for at in range(len(rest) + 1)
        if math.prod(rest) * piece < 200 or (piece > 200 and rest in RESTS[:2])
    ]
    if empty:
        found = [each for each in found if 0 in each[0]]

    def words(each: tuple[Shape, int]) -> tuple[str, str, str]:
        one, at = each
        return _extent(one, width, members), _rank(one), axis_word(at, len(one))

    return choices.steered(found, ("extent", "rank", "axis"), words)


@cache
def axis_of(rank: int) -> choices.Choice[int]:
    """Return the choice of one of ``rank`` axes, counted from either end."""
    return choices.steered([*range(rank), *range(-rank, 0)], ("axis",), lambda axis: (axis_word(axis, rank),))


@cache
def axis_beside(rank: int) -> choices.Choice[int]:
    """Return the choice of an axis just beyond either end."""
    return beyond([(rank, "past"), (-rank - 1, "before")])


def beyond(axes: Sequence[tuple[int, str]]) -> choices.Choice[int]:
    """Return the choice of one of several axes that are none, each with how."""
    return choices.steered(axes, ("beyond",), lambda one: one[1:]).map(lambda one: one[0])


@cache
def same_axis(at: int, rank: int) -> choices.Choice[int]:
    """Return the choice of how to name an axis: from the front, or from the end."""
    return choices.steered([at, at - rank], ("axis",), lambda axis: (axis_word(axis, rank),))


@cache
def root_of(size: int) -> choices.Choice[int]:
    """Return the choice of a position of a group of ``size``."""
    return choices.steered(
        range(size), ("root",), lambda at: ("first" if not at else "last" if at == size - 1 else "middle",)
    )


def _extent(one: Shape, width: int, members: int) -> str:
    return extent_word(math.prod(one), width, members)


def _rank(one: Shape) -> str:
    return rank_word(len(one))
