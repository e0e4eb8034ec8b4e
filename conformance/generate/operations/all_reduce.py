"""How all_reduce is drawn."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.draft import PARTITIONS, Draft, draft
from conformance.generate.calls.legal_calls import Drawn, alike, reduction, shape_of
from conformance.generate.calls.reductions import accepted, legal_local_axes, local_axes, reducing

_SHAPES: Final = choices.sampled_from([*["any"] * 18, "empty", "mean"])
"""Blocks without elements, and means of those: left to chance, the default draws of seed 0 had 3 means of nothing."""

_EMPTY: Final = choices.sampled_from([(0,), (2, 0), (0, 3), (2, 0, 1)])


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw an all_reduce of any shape over any partition, with local axes now and then."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    drawn, attrs, values = reducing(drawn)
    how = draw(_SHAPES)
    if how == "mean" and "mean" in accepted(drawn.dtype):
        attrs, values = {"op": "mean"}, "mean"
    shape = drawn.shape() if how == "any" else draw(_EMPTY)
    local, values = local_axes(drawn, shape, values)
    if local:
        attrs["local_axes"] = local
    return drawn.case("all_reduce", shape=shape, attrs=attrs, values=values)


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    drawn, attrs = reduction(draw, drawn)
    shape, values = shape_of(draw, drawn, shapes), str(attrs["op"])
    if drawn.once:
        local, values = legal_local_axes(drawn, shape, values)
        attrs |= {"local_axes": local} if local else {}
    return alike(drawn, "all_reduce", shape, values, **attrs)
