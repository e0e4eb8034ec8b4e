"""reduce."""

from __future__ import annotations

from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.reduction import REDUCTION
from conformance.specs.op import FOLDED, FOLDS, Example, Op, Result, rejection, value
from conformance.specs.operations.broadcast import root_is_not_its_rank

OP = Op(
    "reduce",
    summary="The root receives the elementwise reduction of its group's blocks, the other members nothing.",
    shares=COLLECTIVE + REDUCTION,
    clauses=(
        value(
            "reduce.C1",
            "In a reduce the root receives the elementwise reduction of its group's blocks, in the shape of one "
            "block. Of other ranks no result is asked (with a target see `aliasing.C14`); over no mesh axis see "
            "`collective.C30`.",
            "mpi.reduce",
        ),
        value(
            "reduce.C2",
            "The `root` of a reduce is a position in each group, not a rank of the world; over no mesh axis see "
            "`collective.C30`.",
            "mpi.reduce",
            root_is_not_its_rank,
        ),
        rejection(
            "reduce.C3",
            "A reduce whose `root` is not a position in every group is rejected, except over no mesh axis "
            "(`collective.C30`) or without operands (`collective.C27`).",
            "mpi.reduce",
        ),
    ),
    aliases={"torch": ("distributed.reduce",), "mpi": ("MPI_Reduce",)},
    examples=(Example("mpi.reduce", "int32", {"op": "sum", "root": 1}, [[1], [2], [3]], [None, [6], None]),),
    results=(
        Result("on the root", "shape", FOLDED, ("reduce.C1", *FOLDS)),
        Result("on other members", "", "", ("reduce.C1", "aliasing.C14")),
    ),
    arguments={"root": ("reduce.C1", "reduce.C2", "reduce.C3")},
)
