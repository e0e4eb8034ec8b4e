"""reduce."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.specs.domains import choices
from conformance.specs.domains.arguments import root_near
from conformance.specs.domains.calls import Drawn, alike, reduction, root, shape_of
from conformance.specs.domains.domain import PARTITIONS, Draft, draft
from conformance.specs.domains.reductions import reducing
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.reduction import REDUCTION
from conformance.specs.op import Example, Op, rejection, value
from conformance.specs.operations.broadcast import root_is_not_its_rank


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a reduce to every root and to just beyond both ends."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    drawn, attrs, values = reducing(drawn)
    attrs["root"] = root_near(draw, drawn.group_size)
    return drawn.case("reduce", shape=drawn.shape(), attrs=attrs, values=values)


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    drawn, attrs = reduction(draw, drawn)
    attrs["root"] = root(draw, drawn)
    return alike(drawn, "reduce", shape_of(draw, drawn, shapes), str(attrs["op"]), **attrs)


OP = Op(
    "reduce",
    summary="The root receives the elementwise reduction of its group's blocks, the other members nothing.",
    domain=programs(),
    call=calls,
    shares=COLLECTIVE + REDUCTION,
    clauses=(
        value(
            "reduce.C1",
            "The root receives the reduction of its group's blocks, in the shape of one block. No result is asked of "
            "other ranks; over no mesh axis see `collective.C30`.",
            "mpi.reduce",
        ),
        value(
            "reduce.C2",
            "The root is a position in the group, not a rank of the world.",
            "mpi.reduce",
            root_is_not_its_rank,
        ),
        rejection("reduce.C3", "A root that is not a position in every group is rejected.", "mpi.reduce"),
    ),
    aliases={"torch": ("distributed.reduce",), "mpi": ("MPI_Reduce",)},
    examples=(Example("mpi.reduce", "int32", {"op": "sum", "root": 1}, [[1], [2], [3]], [None, [6], None]),),
)
