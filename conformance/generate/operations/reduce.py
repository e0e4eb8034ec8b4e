"""How reduce is drawn."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.arguments import root_near
from conformance.generate.calls.draft import PARTITIONS, Draft, draft
from conformance.generate.calls.legal_calls import Drawn, alike, reduction, root, shape_of
from conformance.generate.calls.reductions import reducing


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a reduce to every root and to just beyond both ends."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    drawn, attrs, values = reducing(drawn)
    attrs["root"] = root_near(draw, drawn.group_size)
    return drawn.case("reduce", shape=drawn.shape(), attrs=attrs, values=values)


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    drawn, attrs = reduction(draw, drawn)
    attrs["root"] = root(draw, drawn)
    return alike(drawn, "reduce", shape_of(draw, drawn, shapes), str(attrs["op"]), **attrs)
