"""axis_size."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.specs.domains import choices
from conformance.specs.domains.domain import PARTITIONS, Draft, draft
from conformance.specs.families.collective import WITHOUT_OPERANDS
from conformance.specs.op import Example, Op, value


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw an axis_size over any axes and any partition."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    return drawn.program("axis_size", {}, ("y",), {})


OP = Op(
    "axis_size",
    summary="The number of members of every rank's group.",
    domain=programs(),
    shares=WITHOUT_OPERANDS,
    clauses=(
        value(
            "axis_size.C1",
            "The result is the number of members of the rank's own group, as an int32 array without axes.",
            "jax.axis_size",
        ),
    ),
    aliases={"jax": ("lax.axis_size",), "torch": ("distributed.get_world_size",), "mpi": ("MPI_Comm_size",)},
    examples=(Example("jax.axis_size", "int32", {}, (), [4, 4, 4, 4], groups=((0, 1, 2, 3),)),),
)
