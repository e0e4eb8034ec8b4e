"""How all_gather is drawn."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.arguments import joinable
from conformance.generate.calls.draft import EQUAL, Draft, draft
from conformance.generate.calls.legal_calls import Drawn, alike, joining


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw an all_gather along every legal axis and the two that are just beyond."""
    drawn: Draft = draft(draw, groups=EQUAL)
    shape, axis, tiled = joinable(drawn)
    return drawn.case("all_gather", shape=shape, attrs={"axis": axis, "tiled": tiled})


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    shape, axis, tiled = joining(draw, drawn, shapes)
    return alike(drawn, "all_gather", shape, axis=axis, tiled=tiled)
