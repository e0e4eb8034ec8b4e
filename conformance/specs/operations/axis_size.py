"""axis_size."""

from __future__ import annotations

from conformance.specs.families.collective import WITHOUT_OPERANDS
from conformance.specs.op import Example, Op, Result, value

OP = Op(
    "axis_size",
    summary="The number of members of every rank's group.",
    shares=WITHOUT_OPERANDS,
    clauses=(
        value(
            "axis_size.C1",
            "The result of axis_size is the number of members of the rank's own group, as an int32 array without axes.",
            "jax.axis_size",
        ),
    ),
    aliases={"jax": ("lax.axis_size",), "torch": ("distributed.get_world_size",), "mpi": ("MPI_Comm_size",)},
    examples=(Example("jax.axis_size", "int32", {}, (), [4, 4, 4, 4], groups=((0, 1, 2, 3),)),),
    results=(Result("", "()", "int32", ("axis_size.C1",)),),
)
