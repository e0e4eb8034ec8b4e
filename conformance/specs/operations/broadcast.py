"""broadcast."""

from __future__ import annotations

from conformance.judging.subject import Subject
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import SAME, Example, Op, Result, rejection, value


def root_is_not_its_rank(subject: Subject) -> bool:
    """Speak about cases in which the root's position in some group is not its rank in the world."""
    root = subject.step.attrs["root"]
    return isinstance(root, int) and any(group[root] != root for group in subject.groups)


OP = Op(
    "broadcast",
    summary="Every member receives the root's block.",
    shares=COLLECTIVE,
    clauses=(
        value(
            "broadcast.C1",
            "In a broadcast every member of a group receives the block of the root of that group; over no mesh axis "
            "see `collective.C30`.",
            "jax.pbroadcast",
        ),
        value(
            "broadcast.C2",
            "The `root` of a broadcast is a position in each group, not a rank of the world; over no mesh axis see "
            "`collective.C30`.",
            "jax.pbroadcast",
            root_is_not_its_rank,
        ),
        rejection(
            "broadcast.C3",
            "A broadcast whose `root` is not a position in every group is rejected, except over no mesh axis "
            "(`collective.C30`) or without operands (`collective.C27`).",
            "mpi.bcast",
        ),
    ),
    aliases={
        "jax": ("lax.pbroadcast",),
        "torch": ("distributed.broadcast", "_functional_collectives.broadcast"),
        "mpi": ("MPI_Bcast",),
    },
    examples=(Example("jax.pbroadcast", "int32", {"root": 1}, [[1], [2], [3]], [[2], [2], [2]]),),
    results=(Result("", "shape", SAME, ("broadcast.C1",)),),
    arguments={"root": ("broadcast.C1", "broadcast.C2", "broadcast.C3")},
)
