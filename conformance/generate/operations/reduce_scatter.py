"""How reduce_scatter is drawn."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.arguments import axis_like, splittable
from conformance.generate.calls.draft import EQUAL, TILED, Draft, draft
from conformance.generate.calls.legal_calls import Drawn, alike, reduction, splitting
from conformance.generate.calls.reductions import reducing


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a reduce_scatter whose axis divides, or just fails to."""
    drawn: Draft = draft(draw, groups=EQUAL)
    tiled = draw(TILED)
    drawn, attrs, values = reducing(drawn)
    shape, at = splittable(drawn, tiled)
    axis = axis_like(draw, at, len(shape))
    return drawn.case("reduce_scatter", shape=shape, attrs={**attrs, "axis": axis, "tiled": tiled}, values=values)


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    drawn, attrs = reduction(draw, drawn)
    shape, axis, tiled = splitting(draw, drawn, shapes)
    return alike(drawn, "reduce_scatter", shape, str(attrs["op"]), **attrs, axis=axis, tiled=tiled)
