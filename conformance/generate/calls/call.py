"""One collective as a program uses it, and the shapes of blocks that it is drawn for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from conformance.cases.program.features import LONG
from conformance.cases.program.program import Attr
from conformance.generate import choices
from conformance.generate.calls.decisive_values import Values
from conformance.generate.calls.draft import Draft
from conformance.generate.calls.shapes import Shape
from conformance.reference.situations import MANY, PAST, PAST_BYTES, rank_word

Shapes = tuple[Shape, ...]
"""One shape for each rank."""

Wanted = str | Shape
"""What blocks are to be like: of ``SHAPES_OF`` or ``SIZES``, ``any``, or of one shape, as one that is there has."""

SIZES: Final = {"long": (LONG, 8 * PAST), "past": (PAST_BYTES, PAST)}
"""Bytes, and elements, from which a block is long, or past thresholds."""

SHAPES_OF: Final[dict[str, choices.Choice[Shape]]] = {
    "whole": choices.lists(choices.sampled_from([2, 3, 1, 4]), min_size=1, max_size=2).map(tuple),
    "empty": choices.sampled_from([(0,), (2, 0), (0, 3)]),
}
"""Blocks that have an axis and elements, and blocks without elements; ``long`` ones have as many
elements as make them ``features.LONG`` bytes."""

UNITS: Final = choices.steered([*[1] * 30, MANY], ("extent",), lambda unit: ("many" if unit > 1 else "",))
"""Rows of which a part is a multiple."""


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


def shape_of(draw: choices.Draw, drawn: Draft, wanted: Wanted, least: int = 0) -> Shape:
    """Draw the shape of a block, with as many axes as ``least`` or more."""
    if isinstance(wanted, tuple):
        return wanted
    if wanted == "any":
        return drawn.shape(least)
    if wanted in SIZES:
        return draw(_of_size(great(drawn, wanted), least))
    return draw(SHAPES_OF[wanted])


def great(drawn: Draft, wanted: str) -> int:
    """Return how many elements a block of a size has."""
    width, most = SIZES[wanted]
    return min(-(-width // drawn.width), most)


@cache
def _of_size(count: int, least: int) -> choices.Choice[Shape]:
    """Return shapes of ``count`` elements or a few more."""
    found = [(count,), (count + 1,), (4, -(-count // 4)), (2, 3, -(-count // 6))]
    return choices.steered([one for one in found if len(one) >= least], ("rank",), lambda one: (rank_word(len(one)),))
