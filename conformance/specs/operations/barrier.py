"""barrier."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.specs.domains import choices
from conformance.specs.domains.domain import PARTITIONS, Draft, draft
from conformance.specs.families.collective import WITHOUT_OPERANDS
from conformance.specs.op import Op, value


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a barrier over any axes and any partition."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    return drawn.program("barrier", {}, (), {})


OP = Op(
    "barrier",
    summary="No member goes on before every member of its group has come.",
    domain=programs(),
    shares=WITHOUT_OPERANDS,
    clauses=(
        value(
            "barrier.C1",
            "A barrier has no result. In a legal program it ends on every rank, on each only after every member of its "
            "group has come to it.",
            "mpi.barrier",
        ),
    ),
    no_example="A barrier has no result to print.",
    aliases={"torch": ("distributed.barrier",), "mpi": ("MPI_Barrier",)},
)
