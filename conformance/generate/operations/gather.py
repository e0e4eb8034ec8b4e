"""How gather is drawn."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.arguments import joinable, root_near
from conformance.generate.calls.draft import EQUAL, Draft, draft
from conformance.generate.calls.legal_calls import Drawn, alike, joining, root


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a gather to every root, along every legal axis, and to just beyond both."""
    drawn: Draft = draft(draw, groups=EQUAL)
    shape, axis, tiled = joinable(drawn)
    attrs = {"root": root_near(draw, drawn.group_size), "axis": axis, "tiled": tiled}
    return drawn.case("gather", shape=shape, attrs=attrs)


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    shape, axis, tiled = joining(draw, drawn, shapes)
    return alike(drawn, "gather", shape, root=root(draw, drawn), axis=axis, tiled=tiled)
