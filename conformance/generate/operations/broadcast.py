"""How broadcast is drawn."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.arguments import root_near
from conformance.generate.calls.draft import PARTITIONS, Draft, draft
from conformance.generate.calls.legal_calls import Drawn, alike, root, shape_of


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a broadcast from every root and from just beyond both ends."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    return drawn.case("broadcast", shape=drawn.shape(), attrs={"root": root_near(draw, drawn.group_size)})


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    return alike(drawn, "broadcast", shape_of(draw, drawn, shapes), root=root(draw, drawn))
