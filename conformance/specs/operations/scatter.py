"""scatter."""

from __future__ import annotations

from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import SAME, Example, Op, Result, attr, has, rejection, value, variant
from conformance.specs.operations.broadcast import root_is_not_its_rank

OP = Op(
    "scatter",
    summary="The root's block is split, and the member at position p receives piece p.",
    shares=COLLECTIVE,
    clauses=(
        value(
            "scatter.C1",
            "In a scatter the member at position p receives piece p, along `axis`, of the root's block where it is "
            "tiled, and slice p where it is untiled; over no mesh axis see `collective.C30`.",
            "mpi.scatter",
        ),
        variant(
            "scatter.C2",
            "In an untiled scatter the extent of the root's block along `axis` is the group size; the member at "
            "position p receives the slice at index p, without that axis; over no mesh axis see `collective.C30`.",
            "ours",
            attr("tiled", False),
        ),
        variant(
            "scatter.C3",
            "In a tiled scatter the result keeps the axis `axis`, with the extent of the root's block there divided "
            "by the group size.",
            "ours",
            attr("tiled", True),
        ),
        value(
            "scatter.C4",
            "The `root` of a scatter is a position in each group, not a rank of the world; over no mesh axis see "
            "`collective.C30`.",
            "mpi.scatter",
            root_is_not_its_rank,
        ),
        value(
            "scatter.C5",
            "In a scatter a negative `axis` counts from the end of the block's axes: -1 is the last.",
            "ours",
            has("axis", "negative"),
        ),
        rejection(
            "scatter.C6",
            "A scatter whose `root` is not a position in every group is rejected, except over no mesh axis "
            "(`collective.C30`) or without operands (`collective.C27`).",
            "mpi.scatter",
        ),
        rejection(
            "scatter.C7",
            "A scatter whose block does not have the axis `axis` is rejected, except over no mesh axis "
            "(`collective.C30`) or without operands (`collective.C27`).",
            "ours",
        ),
        rejection(
            "scatter.C8",
            "A tiled scatter is rejected where the group size does not divide the extent of the block along "
            "`axis`, except over no mesh axis (`collective.C30`) or without operands (`collective.C27`).",
            "ours",
        ),
        rejection(
            "scatter.C9",
            "An untiled scatter is rejected where the extent of the block along `axis` is not the group size, except "
            "over no mesh axis (`collective.C30`) or without operands (`collective.C27`).",
            "ours",
        ),
    ),
    aliases={"torch": ("distributed.scatter",), "mpi": ("MPI_Scatter",)},
    examples=(Example("mpi.scatter", "int32", {"root": 1, "axis": 0, "tiled": False}, [[0, 0], [5, 6]], [5, 6]),),
    results=(
        Result("untiled", "shape[:axis] + shape[axis + 1:]", SAME, ("scatter.C2",)),
        Result("tiled", "shape[:axis] + (shape[axis] // n,) + shape[axis + 1:]", SAME, ("scatter.C3",)),
    ),
    arguments={
        "root": ("scatter.C1", "scatter.C4", "scatter.C6"),
        "axis": ("scatter.C1", "scatter.C5", "scatter.C7", "scatter.C8", "scatter.C9"),
        "tiled": ("scatter.C2", "scatter.C3"),
    },
)
