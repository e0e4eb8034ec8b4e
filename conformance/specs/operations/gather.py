"""gather."""

from __future__ import annotations

from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import SAME, Example, Op, Result, attr, has, rejection, value, variant
from conformance.specs.operations.broadcast import root_is_not_its_rank

OP = Op(
    "gather",
    summary="The root receives all blocks of its group, in member order, the other members nothing.",
    shares=COLLECTIVE,
    clauses=(
        value(
            "gather.C1",
            "In a gather the root receives the blocks of its group joined along `axis`: that of the member at "
            "position p is slice p where untiled, and piece p where tiled. Of other ranks no result is asked (with a "
            "target see `aliasing.C14`); over no mesh axis see `collective.C30`.",
            "mpi.gather",
        ),
        variant(
            "gather.C2",
            "An untiled gather stacks the blocks along a new axis, which is axis `axis` of the result and has the "
            "group size as its extent; over no mesh axis see `collective.C30`.",
            "ours",
            attr("tiled", False),
        ),
        variant(
            "gather.C3",
            "A tiled gather concatenates the blocks along their axis `axis`, whose extent in the result is the "
            "block's times the group size; over no mesh axis see `collective.C30`.",
            "ours",
            attr("tiled", True),
        ),
        value(
            "gather.C4",
            "The `root` of a gather is a position in each group, not a rank of the world; over no mesh axis see "
            "`collective.C30`.",
            "mpi.gather",
            root_is_not_its_rank,
        ),
        rejection(
            "gather.C5",
            "A gather whose `root` is not a position in every group is rejected, except over no mesh axis "
            "(`collective.C30`) or without operands (`collective.C27`).",
            "mpi.gather",
        ),
        rejection(
            "gather.C6",
            "A gather is rejected where its result does not have the axis `axis`, except over no mesh axis "
            "(`collective.C30`) or without operands (`collective.C27`).",
            "ours",
        ),
        value(
            "gather.C7",
            "In a gather a negative `axis` counts from the end of the result's axes: -1 is the last.",
            "ours",
            has("axis", "negative"),
        ),
    ),
    aliases={"torch": ("distributed.gather",), "mpi": ("MPI_Gather",)},
    examples=(
        Example("mpi.gather", "int32", {"root": 2, "axis": 0, "tiled": False}, [1, 2, 3], [None, None, [1, 2, 3]]),
    ),
    results=(
        Result("untiled, on the root", "shape[:axis] + (n,) + shape[axis:]", SAME, ("gather.C1", "gather.C2")),
        Result(
            "tiled, on the root",
            "shape[:axis] + (n * shape[axis],) + shape[axis + 1:]",
            SAME,
            ("gather.C1", "gather.C3"),
        ),
        Result("on other members", "", "", ("gather.C1", "aliasing.C14")),
    ),
    arguments={
        "root": ("gather.C1", "gather.C4", "gather.C5"),
        "axis": ("gather.C1", "gather.C6", "gather.C7"),
        "tiled": ("gather.C2", "gather.C3"),
    },
)
