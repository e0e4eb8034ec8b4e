"""reduce_scatter."""

from __future__ import annotations

from conformance.cases.case import Case
from conformance.specs.divergences import diverging, refuses
from conformance.specs.domains import choices
from conformance.specs.domains.arguments import axis_like, splittable
from conformance.specs.domains.calls import Drawn, alike, reduction, splitting
from conformance.specs.domains.domain import EQUAL, TILED, Draft, draft
from conformance.specs.domains.reductions import reducing
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.reduction import REDUCTION
from conformance.specs.op import Example, Op, attr, has, rejection, value, variant


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw a reduce_scatter whose axis divides, or just fails to."""
    drawn: Draft = draft(draw, groups=EQUAL)
    tiled = draw(TILED)
    drawn, attrs, values = reducing(drawn)
    shape, at = splittable(drawn, tiled)
    axis = axis_like(draw, at, len(shape))
    return drawn.case("reduce_scatter", shape=shape, attrs={**attrs, "axis": axis, "tiled": tiled}, values=values)


FOUR = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    drawn, attrs = reduction(draw, drawn)
    shape, axis, tiled = splitting(draw, drawn, shapes)
    return alike(drawn, "reduce_scatter", shape, str(attrs["op"]), **attrs, axis=axis, tiled=tiled)


OP = Op(
    "reduce_scatter",
    summary="The group's blocks are reduced, and the member at position p keeps piece p.",
    domain=programs(),
    call=calls,
    shares=COLLECTIVE + REDUCTION,
    clauses=(
        value(
            "reduce_scatter.C1",
            "The blocks of a group are folded element by element, and the result is cut along the axis. The member at "
            "position p receives piece p.",
            "jax.psum_scatter",
        ),
        variant(
            "reduce_scatter.C2",
            "Untiled, the extent of the axis is the group size; the member at position p receives the slice at index "
            "p, without the axis; over no mesh axis see `collective.C21` and `collective.C30`.",
            "jax.psum_scatter: tiled",
            attr("tiled", False),
        ),
        variant(
            "reduce_scatter.C3",
            "Tiled, the result keeps the axis, with the extent of the block divided by the group size.",
            "jax.psum_scatter: tiled",
            attr("tiled", True),
        ),
        diverging(
            value(
                "reduce_scatter.C4",
                "A negative axis counts from the end of the axes of the block.",
                "ours",
                has("axis", "negative"),
            ),
            refuses("jax", "psum_scatter passes a negative axis on as it is, and lowering refuses it."),
        ),
        rejection(
            "reduce_scatter.C5",
            "An axis that the block does not have is rejected.",
            "jax.psum_scatter: _reduce_scatter_effectful_abstract_eval",
        ),
        rejection(
            "reduce_scatter.C6",
            "Tiled, an extent of the axis that the group size does not divide is rejected.",
            "jax.psum_scatter: _reduce_scatter_effectful_abstract_eval",
        ),
        rejection(
            "reduce_scatter.C7",
            "Untiled, an extent of the axis other than the group size is rejected.",
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
)
