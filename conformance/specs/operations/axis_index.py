"""axis_index."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.specs.domains import choices
from conformance.specs.domains.domain import PARTITIONS, Draft, draft
from conformance.specs.families.collective import WITHOUT_OPERANDS
from conformance.specs.op import Example, Op, value


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw an axis_index over any axes and any partition."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    return drawn.program("axis_index", {}, ("y",), {})


OP = Op(
    "axis_index",
    summary="Every rank's position along the named axes.",
    domain=programs(),
    shares=WITHOUT_OPERANDS,
    clauses=(
        value(
            "axis_index.C1",
            "The result is the position of the rank in its group, as an int32 array without axes.",
            "jax.axis_index",
        ),
    ),
    aliases={"jax": ("lax.axis_index",), "torch": ("distributed.get_rank",), "mpi": ("MPI_Comm_rank",)},
    examples=(Example("jax.axis_index", "int32", {}, (), [0, 1, 2, 3], groups=((0, 1, 2, 3),)),),
)
