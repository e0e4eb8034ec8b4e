"""barrier."""

from __future__ import annotations

from conformance.specs.families.collective import WITHOUT_OPERANDS
from conformance.specs.op import Op, Result, value

OP = Op(
    "barrier",
    summary="No member goes on before every member of its group has come.",
    shares=WITHOUT_OPERANDS,
    clauses=(
        value(
            "barrier.C1",
            "A barrier has no result, and in a legal program it ends on every rank. That no rank goes on before every "
            "member of its group has come shows where a member dies before it (`liveness.C13`).",
            "mpi.barrier",
        ),
    ),
    no_example="A barrier has no result to print.",
    aliases={"torch": ("distributed.barrier",), "mpi": ("MPI_Barrier",)},
    results=(Result("", "", "", ("barrier.C1",)),),
)
