"""all_reduce."""

from __future__ import annotations

from conformance.judging.divergences import diverging, refuses
from conformance.judging.subject import Subject
from conformance.specs.families.collective import COLLECTIVE
from conformance.specs.families.reduction import REDUCTION, folds_nothing
from conformance.specs.op import FOLDED, FOLDS, Example, Op, Result, about, reductions, rejection, value


def has_local_axes(subject: Subject) -> bool:
    """Speak about cases that reduce axes of the block with the named ones."""
    return bool(subject.step.attrs.get("local_axes"))


def reduces_nothing(subject: Subject) -> bool:
    """Speak about results of elements without a term, but for means."""
    return folds_nothing(subject) and subject.step.attrs["op"] != "mean"


OP = Op(
    "all_reduce",
    summary="Every member receives the elementwise reduction of its group's blocks.",
    shares=COLLECTIVE + REDUCTION,
    clauses=(
        value(
            "all_reduce.C1",
            "In an all_reduce every member receives the elementwise reduction of the blocks of its group, in the "
            "shape of one block without its local axes; over no mesh axis and no local axis see `collective.C21` and "
            "`collective.C30`.",
            "jax.psum",
        ),
        value(
            "all_reduce.C2",
            "An all_reduce with local axes folds, for each element of its result, all elements along those axes of "
            "the blocks of every member of the group; the result does not have these axes.",
            "jax.psum: _allreduce_lowering",
            about(
                lambda s: has_local_axes(s) and s.step.groups is None and s.step.attrs["op"] != "mean",
                local_axes=("given",),
                groups=("none",),
            ),
        ),
        rejection(
            "all_reduce.C3",
            "A local axis of an all_reduce that the block does not have is rejected, except without operands "
            "(`collective.C27`).",
            "jax.psum: _allreduce_effectful_abstract_eval",
            local_axes=("given", "negative"),
        ),
        rejection(
            "all_reduce.C4",
            "An all_reduce that names one local axis twice, also by a number that counts from the end, is rejected, "
            "except without operands (`collective.C27`).",
            "jax.psum: _allreduce_effectful_abstract_eval",
            local_axes=("given", "negative"),
        ),
        value(
            "all_reduce.C5",
            "Where a local axis of an all_reduce has extent 0, a reduction other than a mean gives its identity: sum, "
            "premul_sum, `or` and `xor` +0 (NaN in float8_e8m0fnu, which has no zero), product 1, `and` all bits set, "
            "max the dtype's least value, min its greatest, infinities included.",
            "tinygrad.schedule: earliest_rewrites; ieee754: 9.4",
            about(reduces_nothing, local_axes=("given",), size=("empty",)),
        ),
        diverging(
            value(
                "all_reduce.C6",
                "Where an all_reduce has local axes and groups, each group folds the elements along the local axes of "
                "the blocks of its own members.",
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
                "A mean of an all_reduce with local axes divides by the number of its terms: the number of members of "
                "the group times the number of elements of one block along those axes.",
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
    results=(
        Result("without local axes", "shape", FOLDED, ("all_reduce.C1", *FOLDS)),
        Result(
            "with `local_axes`",
            "tuple(shape[at] for at in range(len(shape)) if at not in local_axes)",
            FOLDED,
            ("all_reduce.C2", *FOLDS),
        ),
    ),
    arguments={
        "local_axes": (
            "all_reduce.C2",
            "all_reduce.C3",
            "all_reduce.C4",
            "all_reduce.C5",
            "all_reduce.C6",
            "all_reduce.C7",
        )
    },
)
