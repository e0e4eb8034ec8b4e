"""How all_to_all is drawn."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.arguments import axis_like, axis_near, splittable
from conformance.generate.calls.draft import EQUAL, TILED, Draft, draft
from conformance.generate.calls.legal_calls import BOOLEANS, Drawn, alike, splitting
from conformance.generate.calls.shapes import axis_of

_SCALAR: Final = choices.sampled_from([*[False] * 15, True, False])
"""Whether a block has no axis at all, which nothing can split."""


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw an all_to_all over every pair of axes, whose split axis divides, or just fails to."""
    drawn: Draft = draft(draw, groups=EQUAL)
    tiled = draw(TILED)
    shape, at = splittable(drawn, tiled)
    if draw(_SCALAR):
        shape = ()
    split = axis_like(draw, at, len(shape), "split_axis") if shape else axis_near(draw, 0, "split_axis")
    concat = axis_near(draw, len(shape), "concat_axis")
    return drawn.case("all_to_all", shape=shape, attrs={"split_axis": split, "concat_axis": concat, "tiled": tiled})


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    shape, axis, tiled = splitting(draw, drawn, shapes)
    # The same axis three times in four: the result then takes the operand's place.
    concat = draw(axis_of(len(shape))) if draw(BOOLEANS) else axis
    return alike(drawn, "all_to_all", shape, split_axis=axis, concat_axis=concat, tiled=tiled)
