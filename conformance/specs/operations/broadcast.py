"""broadcast."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.judging.subject import Subject
from conformance.specs.domains import choices
from conformance.specs.domains.arguments import root_near
from conformance.specs.domains.calls import Drawn, alike, root, shape_of
from conformance.specs.domains.domain import PARTITIONS, Draft, draft
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import Example, Op, rejection, value


def root_is_not_its_rank(subject: Subject) -> bool:
    """Speak about cases in which the root's position in some group is not its rank in the world."""
    root = subject.step.attrs["root"]
    return isinstance(root, int) and any(group[root] != root for group in subject.groups)


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a broadcast from every root and from just beyond both ends."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    return drawn.case("broadcast", shape=drawn.shape(), attrs={"root": root_near(draw, drawn.group_size)})


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    return alike(drawn, "broadcast", shape_of(draw, drawn, shapes), root=root(draw, drawn))


OP = Op(
    "broadcast",
    summary="Every member receives the root's block.",
    domain=programs(),
    call=calls,
    shares=COLLECTIVE,
    clauses=(
        value("broadcast.C1", "Every member of a group receives the block of the root of its group.", "jax.pbroadcast"),
        value(
            "broadcast.C2",
            "The root is a position in the group, not a rank of the world.",
            "jax.pbroadcast",
            root_is_not_its_rank,
        ),
        rejection("broadcast.C3", "A root that is not a position in every group is rejected.", "mpi.bcast"),
    ),
    aliases={
        "jax": ("lax.pbroadcast",),
        "torch": ("distributed.broadcast", "_functional_collectives.broadcast"),
        "mpi": ("MPI_Bcast",),
    },
    examples=(Example("jax.pbroadcast", "int32", {"root": 1}, [[1], [2], [3]], [[2], [2], [2]]),),
)
