"""scatter."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.specs.domains import choices
from conformance.specs.domains.arguments import axis_like, root_near, splittable
from conformance.specs.domains.calls import Drawn, alike, root, splitting
from conformance.specs.domains.domain import EQUAL, TILED, Draft, draft
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import Example, Op, attr, has, rejection, value, variant
from conformance.specs.operations.broadcast import root_is_not_its_rank


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a scatter from every root, whose axis divides, or just fails to."""
    drawn: Draft = draft(draw, groups=EQUAL)
    tiled = draw(TILED)
    shape, at = splittable(drawn, tiled)
    axis = axis_like(draw, at, len(shape))
    attrs = {"root": root_near(draw, drawn.group_size), "axis": axis, "tiled": tiled}
    return drawn.case("scatter", shape=shape, attrs=attrs)


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    shape, axis, tiled = splitting(draw, drawn, shapes)
    return alike(drawn, "scatter", shape, root=root(draw, drawn), axis=axis, tiled=tiled)


OP = Op(
    "scatter",
    summary="The root's block is split, and the member at position p receives piece p.",
    domain=programs(),
    call=calls,
    shares=COLLECTIVE,
    clauses=(
        value("scatter.C1", "The member at position p receives piece p of the root's block.", "mpi.scatter"),
        variant(
            "scatter.C2",
            "Untiled, the extent of the axis is the group size; the member at position p receives the slice at index "
            "p, without the axis; over no mesh axis see `collective.C30`.",
            "ours",
            attr("tiled", False),
        ),
        variant(
            "scatter.C3",
            "Tiled, the result keeps the axis, with the extent of the root's block divided by the group size.",
            "ours",
            attr("tiled", True),
        ),
        value(
            "scatter.C4",
            "The root is a position in the group, not a rank of the world.",
            "mpi.scatter",
            root_is_not_its_rank,
        ),
        value(
            "scatter.C5",
            "A negative axis counts from the end of the axes of the block.",
            "ours",
            has("axis", "negative"),
        ),
        rejection("scatter.C6", "A root that is not a position in every group is rejected.", "mpi.scatter"),
        rejection("scatter.C7", "An axis that the block does not have is rejected.", "ours"),
        rejection(
            "scatter.C8", "Tiled, an extent of the axis that the group size does not divide is rejected.", "ours"
        ),
        rejection("scatter.C9", "Untiled, an extent of the axis other than the group size is rejected.", "ours"),
    ),
    aliases={"torch": ("distributed.scatter",), "mpi": ("MPI_Scatter",)},
    examples=(Example("mpi.scatter", "int32", {"root": 1, "axis": 0, "tiled": False}, [[0, 0], [5, 6]], [5, 6]),),
)
