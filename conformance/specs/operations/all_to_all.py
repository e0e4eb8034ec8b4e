"""all_to_all."""

from __future__ import annotations

from conformance.judging.divergences import diverging, refuses
from conformance.judging.subject import Subject
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import SAME, Example, Op, Result, attr, rejection, value, variant


def axes_differ(subject: Subject) -> bool:
    """Speak about cases that split one axis and join at another."""
    operands = list(subject.case.inputs.values())
    split, concat = subject.step.attrs["split_axis"], subject.step.attrs["concat_axis"]
    if not operands or not isinstance(split, int) or not isinstance(concat, int):
        return False
    return (split - concat) % max(len(operands[0].blocks[0].shape), 1) != 0


OP = Op(
    "all_to_all",
    summary="Member q's piece p becomes member p's piece q.",
    shares=COLLECTIVE,
    clauses=(
        value(
            "all_to_all.C1",
            "In an all_to_all the member at position p receives, of every member's block, slice p along `split_axis` "
            "where untiled and piece p where tiled, joined in member order along `concat_axis`; over no mesh axis see "
            "`collective.C30`.",
            "jax.all_to_all",
        ),
        variant(
            "all_to_all.C2",
            "An untiled all_to_all takes away the block's axis `split_axis`, which has one slice for each member, and "
            "stacks the received slices along a new axis, which is axis `concat_axis` of the result; over no mesh "
            "axis see `collective.C30`.",
            "jax.all_to_all: tiled",
            attr("tiled", False),
        ),
        variant(
            "all_to_all.C3",
            "In a tiled all_to_all the extent along `split_axis` is divided by the group size and the extent along "
            "`concat_axis` multiplied by it, so that the shape stays where both are one axis.",
            "jax.all_to_all: tiled",
            attr("tiled", True),
        ),
        diverging(
            value(
                "all_to_all.C4",
                "In an all_to_all a negative `split_axis` counts from the end of the block's axes, and a negative "
                "`concat_axis` from the end of the result's axes.",
                "ours",
                lambda s: s.has("split_axis", "negative") or s.has("concat_axis", "negative"),
            ),
            refuses("jax", "all_to_all passes a negative axis on as it is, and lowering refuses it."),
        ),
        rejection(
            "all_to_all.C5",
            "An all_to_all whose block does not have the axis `split_axis` is rejected, except over no mesh axis "
            "(`collective.C30`) or without operands (`collective.C27`).",
            "jax.all_to_all: _all_to_all_effectful_abstract_eval",
        ),
        rejection(
            "all_to_all.C6",
            "An all_to_all whose result does not have the axis `concat_axis` is rejected, except over no mesh axis "
            "(`collective.C30`) or without operands (`collective.C27`).",
            "jax.all_to_all: _all_to_all_effectful_abstract_eval",
        ),
        rejection(
            "all_to_all.C7",
            "A tiled all_to_all is rejected where the group size does not divide the extent of the block along "
            "`split_axis`, except over no mesh axis (`collective.C30`) or without operands (`collective.C27`).",
            "jax.all_to_all: _all_to_all_is_async",
        ),
        rejection(
            "all_to_all.C8",
            "An untiled all_to_all is rejected where the extent of the block along `split_axis` is not the group "
            "size, except over no mesh axis (`collective.C30`) or without operands (`collective.C27`).",
            "jax.all_to_all: _all_to_all_is_async",
        ),
        variant(
            "all_to_all.C9",
            "An all_to_all whose `split_axis` and `concat_axis` differ is legal: blocks are cut along the one, and "
            "what is received is joined along the other; over no mesh axis see `collective.C30`.",
            "jax.all_to_all: concat_axis",
            axes_differ,
        ),
    ),
    aliases={
        "jax": ("lax.all_to_all", "lax.pswapaxes"),
        "torch": ("distributed.all_to_all_single", "distributed.all_to_all", "ops._dtensor.shard_dim_alltoall"),
        "mpi": ("MPI_Alltoall",),
    },
    examples=(
        Example(
            "jax.all_to_all",
            "int32",
            {"split_axis": 0, "concat_axis": 0, "tiled": True},
            [[0, 0], [1, 2]],
            [[0, 1], [0, 2]],
        ),
    ),
    results=(
        Result(
            "untiled",
            "rest[:concat_axis] + (n,) + rest[concat_axis:], where rest = shape[:split_axis] + shape[split_axis + 1:]",
            SAME,
            ("all_to_all.C2",),
        ),
        Result(
            "tiled",
            "tuple(extent // (n if at == split_axis else 1) * (n if at == concat_axis else 1) "
            "for at, extent in enumerate(shape))",
            SAME,
            ("all_to_all.C3",),
        ),
    ),
    arguments={
        "split_axis": ("all_to_all.C1", "all_to_all.C4", "all_to_all.C5", "all_to_all.C7", "all_to_all.C8"),
        "concat_axis": ("all_to_all.C4", "all_to_all.C6", "all_to_all.C9"),
        "tiled": ("all_to_all.C2", "all_to_all.C3"),
    },
)
