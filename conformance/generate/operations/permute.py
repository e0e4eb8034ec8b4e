"""How permute is drawn."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.draft import EQUAL, Draft, draft
from conformance.generate.calls.legal_calls import BOOLEANS, Drawn, alike, orders_of, shape_of
from conformance.generate.calls.pairs import pairs_near


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a permute with full, partial and empty pairs and, now and then, illegal ones."""
    drawn: Draft = draft(draw, groups=EQUAL)
    pairs = draw(pairs_near(drawn.group_size))
    return drawn.case("permute", shape=drawn.shape(), attrs={"pairs": pairs})


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    to = draw(orders_of(drawn.group_size))
    pairs = tuple(enumerate(to))[: None if draw(BOOLEANS) else max(len(to) - 1, 1)]
    return alike(drawn, "permute", shape_of(draw, drawn, shapes), pairs=pairs)
