"""all_reduce."""

from __future__ import annotations

from typing import Final

from conformance.cases.case import Case
from conformance.judging.subject import Subject
from conformance.specs.divergences import diverging, refuses
from conformance.specs.domains import choices
from conformance.specs.domains.calls import Drawn, alike, reduction, shape_of
from conformance.specs.domains.domain import PARTITIONS, Draft, draft
from conformance.specs.domains.reductions import accepted, legal_local_axes, local_axes, reducing
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.reduction import REDUCTION, local_terms
from conformance.specs.op import Example, Op, about, reductions, rejection, value


def has_local_axes(subject: Subject) -> bool:
    """Speak about cases that reduce axes of the block with the named ones."""
    return bool(subject.step.attrs.get("local_axes"))


def reduces_nothing(subject: Subject) -> bool:
    """Speak about blocks without a term along their local axes, but for means."""
    return local_terms(subject) == 0 and subject.step.attrs["op"] != "mean"


_SHAPES: Final = choices.sampled_from([*["any"] * 18, "empty", "mean"])
"""Blocks without elements, and means of those: left to chance, the default draws of seed 0 had 3 means of nothing."""

_EMPTY: Final = choices.sampled_from([(0,), (2, 0), (0, 3), (2, 0, 1)])


@choices.composite
def programs(draw: choices.Draw) -> Case:
    """Draw an all_reduce of any shape over any partition, with local axes now and then."""
    drawn: Draft = draft(draw, groups=PARTITIONS)
    drawn, attrs, values = reducing(drawn)
    how = draw(_SHAPES)
    if how == "mean" and "mean" in accepted(drawn.dtype):
        attrs, values = {"op": "mean"}, "mean"
    shape = drawn.shape() if how == "any" else draw(_EMPTY)
    local, values = local_axes(drawn, shape, values)
    if local:
        attrs["local_axes"] = local
    return drawn.case("all_reduce", shape=shape, attrs=attrs, values=values)


def calls(draw: choices.Draw, drawn: Draft, shapes: str) -> Drawn:
    """Draw a legal call of it."""
    drawn, attrs = reduction(draw, drawn)
    shape, values = shape_of(draw, drawn, shapes), str(attrs["op"])
    if drawn.once:
        local, values = legal_local_axes(drawn, shape, values)
        attrs |= {"local_axes": local} if local else {}
    return alike(drawn, "all_reduce", shape, values, **attrs)


OP = Op(
    "all_reduce",
    summary="Every member receives the elementwise reduction of its group's blocks.",
    domain=programs(),
    call=calls,
    shares=COLLECTIVE + REDUCTION,
    clauses=(
        value(
            "all_reduce.C1",
            "Every member receives the reduction of its group's blocks, in the shape of one block without its local "
            "axes.",
            "jax.psum",
        ),
        value(
            "all_reduce.C2",
            "The reduction folds the elements along the local axes of all members' blocks, and the result does not "
            "have these axes.",
            "jax.psum: _allreduce_lowering",
            about(
                lambda s: has_local_axes(s) and s.step.groups is None and s.step.attrs["op"] != "mean",
                local_axes=("given",),
                groups=("none",),
            ),
        ),
        rejection(
            "all_reduce.C3",
            "A local axis that the block does not have is rejected.",
            "jax.psum: _allreduce_effectful_abstract_eval",
            local_axes=("given", "negative"),
        ),
        rejection(
            "all_reduce.C4",
            "A local axis that is named twice is rejected, also where one of the numbers counts from the end.",
            "jax.psum: _allreduce_effectful_abstract_eval",
            local_axes=("given", "negative"),
        ),
        value(
            "all_reduce.C5",
            "Where a local axis has no elements, a reduction other than a mean gives its identity: +0 for sum, "
            "premul_sum, or and xor, 1 for product, all bits set for and, for max the least value of the dtype (an "
            "infinity if it has one), for min the greatest.",
            "tinygrad.schedule: earliest_rewrites; ieee754: 9.4",
            about(reduces_nothing, local_axes=("given",), size=("empty",)),
        ),
        diverging(
            value(
                "all_reduce.C6",
                "Where local axes and groups are given together, each group folds the elements along the local "
                "axes of the blocks of its own members.",
                "ours",
                about(
                    lambda s: has_local_axes(s) and s.step.groups is not None,
                    local_axes=("given",),
                    groups=("even", "uneven", "strided", "unsorted", "singletons"),
                ),
            ),
            refuses("jax", "psum, pmax and pmin take groups over named axes only."),
        ),
        diverging(
            value(
                "all_reduce.C7",
                "A mean over local axes divides by the number of its terms: the number of members times the number "
                "of elements along those axes.",
                "ours",
                about(
                    lambda s: has_local_axes(s) and s.step.attrs["op"] == "mean",
                    reductions("mean"),
                    local_axes=("given",),
                ),
            ),
            refuses("jax", "pmean divides by the size of its axes, which a local axis does not have."),
        ),
    ),
    aliases={
        "jax": ("lax.psum", "lax.pmean", "lax.pmax", "lax.pmin"),
        "torch": ("distributed.all_reduce", "_functional_collectives.all_reduce", "distributed.all_reduce_coalesced"),
        "mpi": ("MPI_Allreduce",),
    },
    examples=(
        Example("jax.psum", "int32", {"op": "sum"}, [0, 1, 2, 3], [6, 6, 6, 6]),
        Example("jax.psum", "int32", {"op": "sum"}, [0, 1, 2, 3], [1, 1, 5, 5], groups=((0, 1), (2, 3))),
        Example("jax.psum", "float32", {"op": "mean"}, [0, 1, 2, 3], [1.5, 1.5, 1.5, 1.5]),
        Example(
            "jax.psum",
            "int32",
            {"op": "sum"},
            [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]],
            [[24, 28, 32, 36]] * 4,
        ),
        Example(
            "jax.psum",
            "int32",
            {"op": "sum"},
            [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]],
            [[4, 6, 8, 10], [4, 6, 8, 10], [20, 22, 24, 26], [20, 22, 24, 26]],
            groups=((0, 1), (2, 3)),
        ),
    ),
)
