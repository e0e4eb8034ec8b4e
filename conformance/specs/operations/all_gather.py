"""all_gather."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.specs.domains import choices
from conformance.specs.domains.arguments import joinable
from conformance.specs.domains.calls import Drawn, alike, joining
from conformance.specs.domains.domain import EQUAL, Draft, draft
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import Example, Op, attr, has, rejection, value, variant


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw an all_gather along every legal axis and the two that are just beyond."""
    drawn: Draft = draft(draw, groups=EQUAL)
    shape, axis, tiled = joinable(drawn)
    return drawn.case("all_gather", shape=shape, attrs={"axis": axis, "tiled": tiled})


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    shape, axis, tiled = joining(draw, drawn, shapes)
    return alike(drawn, "all_gather", shape, axis=axis, tiled=tiled)


OP = Op(
    "all_gather",
    summary="Every member receives all blocks of its group, in member order.",
    domain=programs(),
    call=calls,
    shares=COLLECTIVE,
    clauses=(
        value(
            "all_gather.C1",
            "The result holds the blocks of the members along the axis, in member order: the block of the member at "
            "position p is slice p where untiled, and piece p where tiled; over no mesh axis see `collective.C21`.",
            "jax.all_gather",
        ),
        variant(
            "all_gather.C2",
            "Untiled, an all_gather stacks the blocks along a new axis of the result; over no mesh axis see "
            "`collective.C21`.",
            "jax.all_gather: tiled",
            attr("tiled", False),
        ),
        variant(
            "all_gather.C3",
            "Tiled, an all_gather concatenates the blocks along an axis that they have.",
            "jax.all_gather: tiled; stablehlo.all_gather",
            attr("tiled", True),
        ),
        value(
            "all_gather.C4",
            "A negative axis counts from the end of the result's axes.",
            "jax.all_gather: _all_gather",
            has("axis", "negative"),
        ),
        rejection("all_gather.C5", "An axis that the result does not have is rejected.", "jax.all_gather: _all_gather"),
    ),
    aliases={
        "jax": ("lax.all_gather",),
        "torch": ("distributed.all_gather_into_tensor", "distributed.all_gather", "distributed.all_gather_coalesced"),
        "mpi": ("MPI_Allgather",),
    },
    examples=(
        Example("jax.all_gather", "int32", {"axis": 0, "tiled": False}, [0, 1, 2, 3], [[0, 1, 2, 3]] * 4),
        Example(
            "jax.all_gather",
            "int32",
            {"axis": 0, "tiled": False},
            [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]],
            [
                [[0, 1, 2, 3], [8, 9, 10, 11]],
                [[12, 13, 14, 15], [4, 5, 6, 7]],
                [[0, 1, 2, 3], [8, 9, 10, 11]],
                [[12, 13, 14, 15], [4, 5, 6, 7]],
            ],
            groups=((0, 2), (3, 1)),
        ),
    ),
)
