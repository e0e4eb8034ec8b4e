"""all_to_all."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case
from conformance.judging.subject import Subject
from conformance.specs.divergences import diverging, refuses
from conformance.specs.domains import choices
from conformance.specs.domains.arguments import axis_like, axis_near, splittable
from conformance.specs.domains.calls import BOOLEANS, Drawn, alike, splitting
from conformance.specs.domains.domain import EQUAL, TILED, Draft, draft
from conformance.specs.domains.shapes import axis_of
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.op import Example, Op, attr, rejection, value, variant


def axes_differ(subject: Subject) -> bool:
    """Speak about cases that split one axis and join at another."""
    operands = list(subject.case.inputs.values())
    split, concat = subject.step.attrs["split_axis"], subject.step.attrs["concat_axis"]
    if not operands or not isinstance(split, int) or not isinstance(concat, int):
        return False
    return (split - concat) % max(len(operands[0].blocks[0].shape), 1) != 0


_SCALAR: Final = choices.sampled_from([*[False] * 15, True, False])
"""Whether a block has no axis at all, which nothing can split."""


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw an all_to_all over every pair of axes, whose split axis divides, or just fails to."""
    drawn: Draft = draft(draw, groups=EQUAL)
    tiled = draw(TILED)
    shape, at = splittable(drawn, tiled)
    if draw(_SCALAR):
        shape = ()
    split = axis_like(draw, at, len(shape), "split_axis") if shape else axis_near(draw, 0, "split_axis")
    concat = axis_near(draw, len(shape), "concat_axis")
    return drawn.case("all_to_all", shape=shape, attrs={"split_axis": split, "concat_axis": concat, "tiled": tiled})


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    shape, axis, tiled = splitting(draw, drawn, shapes)
    # The same axis three times in four: the result then takes the operand's place.
    concat = draw(axis_of(len(shape))) if draw(BOOLEANS) else axis
    return alike(drawn, "all_to_all", shape, split_axis=axis, concat_axis=concat, tiled=tiled)


OP = Op(
    "all_to_all",
    summary="Member q's piece p becomes member p's piece q.",
    domain=programs(),
    call=calls,
    shares=COLLECTIVE,
    clauses=(
        value(
            "all_to_all.C1",
            "The member at position p receives piece p, along the split axis, of the block of every member, joined in "
            "member order at the concat axis.",
            "jax.all_to_all",
        ),
        variant(
            "all_to_all.C2",
            "Untiled, the split axis has one slice for each member; the result loses it and stacks the received slices "
            "along a new axis at the concat axis; over no mesh axis see `collective.C30`.",
            "jax.all_to_all: tiled",
            attr("tiled", False),
        ),
        variant(
            "all_to_all.C3",
            "Tiled, the extent of the split axis is divided by the group size, and the extent of the concat axis is "
            "multiplied by it.",
            "jax.all_to_all: tiled",
            attr("tiled", True),
        ),
        diverging(
            value(
                "all_to_all.C4",
                "A negative split axis counts from the last axis of the block. A negative concat axis counts from the "
                "last axis of the result.",
                "ours",
                lambda s: s.has("split_axis", "negative") or s.has("concat_axis", "negative"),
            ),
            refuses("jax", "all_to_all passes a negative axis on as it is, and lowering refuses it."),
        ),
        rejection(
            "all_to_all.C5",
            "A split axis that the block does not have is rejected.",
            "jax.all_to_all: _all_to_all_effectful_abstract_eval",
        ),
        rejection(
            "all_to_all.C6",
            "A concat axis that the result does not have is rejected.",
            "jax.all_to_all: _all_to_all_effectful_abstract_eval",
        ),
        rejection(
            "all_to_all.C7",
            "Tiled, an extent of the split axis that the group size does not divide is rejected.",
            "jax.all_to_all: _all_to_all_is_async",
        ),
        rejection(
            "all_to_all.C8",
            "Untiled, an extent of the split axis other than the group size is rejected.",
            "jax.all_to_all: _all_to_all_is_async",
        ),
        variant(
            "all_to_all.C9",
            "A split axis and a concat axis that differ are legal: blocks are cut along the one, and pieces are "
            "joined along the other.",
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
)
