"""shuffle."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.specs.domains import choices
from conformance.specs.domains.calls import Drawn, alike, orders_of, shape_of
from conformance.specs.domains.domain import EQUAL, Draft, draft
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import Example, Op, rejection, value


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


OP = Op(
    "shuffle",
    summary="permute, written as the list of sources.",
    domain=programs(),
    call=calls,
    shares=COLLECTIVE,
    clauses=(
        value(
            "shuffle.C1",
            "The member at position p receives the block of the member at position `sources[p]`.",
            "jax.pshuffle",
        ),
        rejection(
            "shuffle.C2", "Sources that are no permutation of all positions of a group are rejected.", "jax.pshuffle"
        ),
    ),
    aliases={"jax": ("lax.pshuffle",)},
    examples=(Example("jax.pshuffle", "int32", {"sources": (1, 2, 0)}, [[1], [2], [3]], [[2], [3], [1]]),),
)
