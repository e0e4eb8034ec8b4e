"""reduce_scatter."""

from __future__ import annotations

from conformance.judging.divergences import diverging, refuses
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.reduction import REDUCTION
from conformance.specs.op import FOLDED, FOLDS, Example, Op, Result, attr, has, rejection, value, variant

FOUR = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]


OP = Op(
    "reduce_scatter",
    summary="The group's blocks are reduced, and the member at position p keeps piece p.",
    shares=COLLECTIVE + REDUCTION,
    clauses=(
        value(
            "reduce_scatter.C1",
            "A reduce_scatter cuts the elementwise reduction of the blocks of a group along `axis`. The member at "
            "position p receives piece p where it is tiled, and slice p where it is untiled; over no mesh axis see "
            "`collective.C21` and `collective.C30`.",
            "jax.psum_scatter",
        ),
        variant(
            "reduce_scatter.C2",
            "In an untiled reduce_scatter the extent of the block along `axis` is the group size; the member at "
            "position p receives the slice of the reduction at index p, without that axis; over no mesh axis see "
            "`collective.C21` and `collective.C30`.",
            "jax.psum_scatter: tiled",
            attr("tiled", False),
        ),
        variant(
            "reduce_scatter.C3",
            "In a tiled reduce_scatter the result keeps the axis `axis`, with the extent of the block there divided "
            "by the group size.",
            "jax.psum_scatter: tiled",
            attr("tiled", True),
        ),
        diverging(
            value(
                "reduce_scatter.C4",
                "In a reduce_scatter a negative `axis` counts from the end of the block's axes: -1 is the last.",
                "ours",
                has("axis", "negative"),
            ),
            refuses("jax", "psum_scatter passes a negative axis on as it is, and lowering refuses it."),
        ),
        rejection(
            "reduce_scatter.C5",
            "A reduce_scatter whose block does not have the axis `axis` is rejected, except over no mesh axis "
            "(`collective.C21`, `collective.C30`) or without operands (`collective.C27`).",
            "jax.psum_scatter: _reduce_scatter_effectful_abstract_eval",
        ),
        rejection(
            "reduce_scatter.C6",
            "A tiled reduce_scatter is rejected where the group size does not divide the extent of the block along "
            "`axis`, except over no mesh axis (`collective.C21`, `collective.C30`) or without operands "
            "(`collective.C27`).",
            "jax.psum_scatter: _reduce_scatter_effectful_abstract_eval",
        ),
        rejection(
            "reduce_scatter.C7",
            "An untiled reduce_scatter is rejected where the extent of the block along `axis` is not the group size, "
            "except over no mesh axis (`collective.C21`, `collective.C30`) or without operands (`collective.C27`).",
            "jax.psum_scatter: _reduce_scatter_effectful_abstract_eval",
        ),
    ),
    aliases={
        "jax": ("lax.psum_scatter",),
        "torch": ("distributed.reduce_scatter_tensor", "distributed.reduce_scatter"),
        "mpi": ("MPI_Reduce_scatter_block",),
    },
    examples=(
        Example("jax.psum_scatter", "int32", {"op": "sum", "axis": 0, "tiled": False}, FOUR, [24, 28, 32, 36]),
        Example("jax.psum_scatter", "int32", {"op": "sum", "axis": 0, "tiled": True}, FOUR, [[24], [28], [32], [36]]),
        Example(
            "jax.psum_scatter",
            "int32",
            {"op": "sum", "axis": 0, "tiled": True},
            FOUR,
            [[8, 10], [20, 22], [12, 14], [16, 18]],
            groups=((0, 2), (3, 1)),
        ),
    ),
    results=(
        Result("untiled", "shape[:axis] + shape[axis + 1:]", FOLDED, ("reduce_scatter.C2", *FOLDS)),
        Result("tiled", "shape[:axis] + (shape[axis] // n,) + shape[axis + 1:]", FOLDED, ("reduce_scatter.C3", *FOLDS)),
    ),
    arguments={
        "axis": (
            "reduce_scatter.C1",
            "reduce_scatter.C4",
            "reduce_scatter.C5",
            "reduce_scatter.C6",
            "reduce_scatter.C7",
        ),
        "tiled": ("reduce_scatter.C2", "reduce_scatter.C3"),
    },
)
