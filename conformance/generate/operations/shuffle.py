"""How shuffle is drawn."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.draft import EQUAL, Draft, draft
from conformance.generate.calls.legal_calls import Drawn, alike, orders_of, shape_of


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a shuffle by any permutation and, now and then, by a list that is none."""
    drawn: Draft = draft(draw, groups=EQUAL)
    size = drawn.group_size
    sources = list(draw(choices.permutations(range(size))))
    misuse = draw(choices.sampled_from([*["none"] * 16, "repeat", "beyond", "short", "none"]))
    if misuse == "repeat":
        sources[0] = sources[-1]
    if misuse == "beyond":
        sources[0] = size
    if misuse == "short":
        sources.pop()
    return drawn.case("shuffle", shape=drawn.shape(), attrs={"sources": tuple(sources)})


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    return alike(drawn, "shuffle", shape_of(draw, drawn, shapes), sources=tuple(draw(orders_of(drawn.group_size))))
