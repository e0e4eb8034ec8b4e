"""How scan is drawn."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.draft import PARTITIONS, Draft, draft
from conformance.generate.calls.legal_calls import BOOLEANS, Drawn, alike, reduction, shape_of
from conformance.generate.calls.reductions import reducing


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a scan over any partition, with a member's own block or without."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    drawn, attrs, values = reducing(drawn)
    attrs["exclusive"] = draw(BOOLEANS)
    return drawn.case("scan", shape=drawn.shape(), attrs=attrs, values=values)


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    drawn, attrs = reduction(draw, drawn)
    shape, exclusive = shape_of(draw, drawn, shapes), draw(BOOLEANS)
    return alike(drawn, "scan", shape, str(attrs["op"]), **attrs, exclusive=exclusive)
