"""all_gather."""

from __future__ import annotations

from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import SAME, Example, Op, Result, attr, has, rejection, value, variant

OP = Op(
    "all_gather",
    summary="Every member receives all blocks of its group, in member order.",
    shares=COLLECTIVE,
    clauses=(
        value(
            "all_gather.C1",
            "Every member of a group receives the blocks of all its members, joined along `axis` of the result: the "
            "block of the member at position p is slice p where the all_gather is untiled, and piece p where it is "
            "tiled; over no mesh axis see `collective.C21`.",
            "jax.all_gather",
        ),
        variant(
            "all_gather.C2",
            "An untiled all_gather stacks the blocks along a new axis, which is axis `axis` of the result and has the "
            "group size as its extent; over no mesh axis see `collective.C21`.",
            "jax.all_gather: tiled",
            attr("tiled", False),
        ),
        variant(
            "all_gather.C3",
            "A tiled all_gather concatenates the blocks along their axis `axis`, whose extent in the result is the "
            "block's times the group size; over no mesh axis see `collective.C21`.",
            "jax.all_gather: tiled; stablehlo.all_gather",
            attr("tiled", True),
        ),
        value(
            "all_gather.C4",
            "In an all_gather a negative `axis` counts from the end of the result's axes: -1 is the last.",
            "jax.all_gather: _all_gather",
            has("axis", "negative"),
        ),
        rejection(
            "all_gather.C5",
            "An all_gather is rejected where its result does not have the axis `axis`, except over no mesh axis "
            "(`collective.C21`) or without operands (`collective.C27`).",
            "jax.all_gather: _all_gather",
        ),
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
    results=(
        Result("untiled", "shape[:axis] + (n,) + shape[axis:]", SAME, ("all_gather.C2",)),
        Result("tiled", "shape[:axis] + (n * shape[axis],) + shape[axis + 1:]", SAME, ("all_gather.C3",)),
    ),
    arguments={
        "axis": ("all_gather.C1", "all_gather.C4", "all_gather.C5"),
        "tiled": ("all_gather.C2", "all_gather.C3"),
    },
)
