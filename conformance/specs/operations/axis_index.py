"""axis_index."""

from __future__ import annotations

from conformance.specs.families.collective import WITHOUT_OPERANDS
from conformance.specs.op import Example, Op, Result, value

OP = Op(
    "axis_index",
    summary="Every rank's position along the named axes.",
    shares=WITHOUT_OPERANDS,
    clauses=(
        value(
            "axis_index.C1",
            "The result of axis_index is the position of the rank in its group, as an int32 array without axes.",
            "jax.axis_index",
        ),
    ),
    aliases={"jax": ("lax.axis_index",), "torch": ("distributed.get_rank",), "mpi": ("MPI_Comm_rank",)},
    examples=(Example("jax.axis_index", "int32", {}, (), [0, 1, 2, 3], groups=((0, 1, 2, 3),)),),
    results=(Result("", "()", "int32", ("axis_index.C1",)),),
)
