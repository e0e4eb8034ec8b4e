"""How scatter is drawn."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.arguments import axis_like, root_near, splittable
from conformance.generate.calls.draft import EQUAL, TILED, Draft, draft
from conformance.generate.calls.legal_calls import Drawn, alike, root, splitting


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a scatter from every root, whose axis divides, or just fails to."""
    drawn: Draft = draft(draw, groups=EQUAL)
    tiled = draw(TILED)
    shape, at = splittable(drawn, tiled)
    axis = axis_like(draw, at, len(shape))
    attrs = {"root": root_near(draw, drawn.group_size), "axis": axis, "tiled": tiled}
    return drawn.case("scatter", shape=shape, attrs=attrs)


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    shape, axis, tiled = splitting(draw, drawn, shapes)
    return alike(drawn, "scatter", shape, root=root(draw, drawn), axis=axis, tiled=tiled)
