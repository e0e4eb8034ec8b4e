"""gather."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.specs.domains import choices
from conformance.specs.domains.arguments import joinable, root_near
from conformance.specs.domains.calls import Drawn, alike, joining, root
from conformance.specs.domains.domain import EQUAL, Draft, draft
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import Example, Op, attr, has, rejection, value, variant
from conformance.specs.operations.broadcast import root_is_not_its_rank


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


OP = Op(
    "gather",
    summary="The root receives all blocks of its group, in member order, the other members nothing.",
    domain=programs(),
    call=calls,
    shares=COLLECTIVE,
    clauses=(
        value(
            "gather.C1",
            "The root's result holds the blocks of the members along the axis, in member order: the block of the "
            "member at position p is slice p where untiled, and piece p where tiled. No result is asked of other "
            "ranks; over no mesh axis see `collective.C30`.",
            "mpi.gather",
        ),
        variant(
            "gather.C2",
            "Untiled, a gather stacks the blocks along a new axis of the result; over no mesh axis see "
            "`collective.C30`.",
            "ours",
            attr("tiled", False),
        ),
        variant(
            "gather.C3",
            "Tiled, a gather concatenates the blocks along an axis that they have.",
            "ours",
            attr("tiled", True),
        ),
        value(
            "gather.C4",
            "The root is a position in the group, not a rank of the world.",
            "mpi.gather",
            root_is_not_its_rank,
        ),
        rejection("gather.C5", "A root that is not a position in every group is rejected.", "mpi.gather"),
        rejection("gather.C6", "An axis that the result does not have is rejected.", "ours"),
        value(
            "gather.C7",
            "A negative axis counts from the end of the result's axes.",
            "ours",
            has("axis", "negative"),
        ),
    ),
    aliases={"torch": ("distributed.gather",), "mpi": ("MPI_Gather",)},
    examples=(
        Example("mpi.gather", "int32", {"root": 2, "axis": 0, "tiled": False}, [1, 2, 3], [None, None, [1, 2, 3]]),
    ),
)
