"""The clauses that every operation with a reduction shares."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import Final

import numpy as np
from ml_dtypes import iinfo
from msgspec.structs import replace as changed

from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.cases.tensor.dtypes import NUMPY, Kind, kind
from conformance.judging.clause import Clause, Divergence
from conformance.judging.divergences import accepts, any_term, diverging, leaves_open, means, nan_of, refuses
from conformance.judging.numbers.bools import counted_or_any
from conformance.judging.numbers.integer_mean import quotients
from conformance.judging.numbers.order import folded_ranks
from conformance.judging.numbers.recommended_elements import nan_among
from conformance.judging.subject import Subject
from conformance.specs.op import LEGAL, About, about, attr, reductions, rejection, value, variant


def dtype_of(subject: Subject) -> str:
    """Return the dtype of the operand on rank 0, or no word when there is no operand."""
    operand = subject.case.inputs.get(first(subject))
    return operand.blocks[0].dtype if operand is not None else ""


def first(subject: Subject) -> str:
    """Return the operand of the step where it is an input, else the first input by name: files have no other order.

    Each of several has a part of its own (``judging.collectives``). Without an input there is no such word.
    """
    names = subject.case.inputs
    return next((name for name in subject.step.inputs if name in names), min(names, default=""))


def wraps(subject: Subject) -> bool:
    """Speak about integer sums and products that leave the range of their dtype."""
    op, dtype = subject.step.attrs["op"], dtype_of(subject)
    if not dtype or kind(dtype) != "integer" or op not in ("sum", "product"):
        return False
    blocks = [np.abs(block.astype(np.float64)) for block in subject.case.blocks()[first(subject)]]
    with np.errstate(over="ignore"):
        most = functools.reduce(np.add if op == "sum" else np.multiply, blocks)
    return bool((most > float(iinfo(NUMPY[dtype]).max)).any())


def past_range(subject: Subject) -> float | None:
    """Return the greatest number of a dtype, where sums and products of integers may leave it."""
    return float(iinfo(NUMPY[dtype_of(subject)]).max) if wraps(subject) else None


def counts_bools(subject: Subject) -> bool:
    """Speak about sums and products of bool."""
    return dtype_of(subject) == "bool" and subject.step.attrs["op"] in ("sum", "product")


def scatters_bools(subject: Subject) -> bool:
    """Speak about sums of bool of which each rank receives a part."""
    return subject.step.op == "reduce_scatter" and counts_bools(subject)


def logical(case: Case) -> Case | None:
    """Return the case of one reduction with sums of bools as disjunctions, and products as conjunctions."""
    words = {"sum": "or", "product": "and"}
    found = [step for step in case.program.collectives if str(step.attrs.get("op")) in words]
    if len(found) != 1:
        return None
    (step,) = found
    other = changed(step, attrs={**step.attrs, "op": words[str(step.attrs["op"])]})
    return changed(
        case, program=changed(case.program, steps=tuple(other if each is step else each for each in case.program.steps))
    )


def conjoined(case: Case) -> Case | None:
    """Return the case of one product of bools as a conjunction."""
    return logical(case) if any(step.attrs.get("op") == "product" for step in case.program.collectives) else None


def narrow_mean_in_float32(subject: Subject, seen: Observation) -> bool:
    """Return whether a mean of bools or of integers of fewer than 64 bits is one in float32."""
    return dtype_of(subject) not in ("int64", "uint64") and mean_in_float32(subject, seen)


def mean_in_float32(subject: Subject, seen: Observation) -> bool:
    """Return whether a mean of bools or integers is one in float32."""
    if seen.raised or not subject.legal:
        return False
    blocks = [block for name in subject.expected for block in seen.results.get(name, ()) if block is not None]
    return all(block.dtype == "float32" for block in blocks) and quotients(subject, seen) is None


def mean_of(*kinds: Kind, powers: bool | None = None) -> About:
    """Speak about means of dtypes of some kinds, over groups whose sizes all are, or are not all, powers of two."""

    def speaks(subject: Subject) -> bool:
        if subject.step.attrs["op"] != "mean" or kind(dtype_of(subject)) not in kinds:
            return False
        sizes = [len(ranks) * local_terms(subject) for ranks in folded_ranks(subject.step, subject.groups)]
        return powers is None or all(size and size & (size - 1) == 0 for size in sizes) == powers

    return about(speaks, reductions("mean", kinds=kinds))


def folds_nothing(subject: Subject) -> bool:
    """Speak about results that have elements without a term, as far as the results are known.

    They are not where only what is made of them is a result of the program.
    """
    blocks = [block for blocks in subject.expected.values() for block in blocks if block is not None]
    return local_terms(subject) == 0 and (not blocks or any(block.size for block in blocks))


def local_terms(subject: Subject) -> int:
    """Return how many elements of one block are reduced to one, along its local axes; 1 where no input is reduced."""
    axes, operand = subject.step.attrs.get("local_axes", ()), subject.case.inputs.get(subject.step.inputs[0])
    if operand is None:
        return 1
    shape = operand.blocks[0].shape
    # Axes are numbers, by the signature of the reference.
    return math.prod(shape[axis] for axis in axes) if isinstance(axes, tuple | list) else 1  # type: ignore[index, misc]


def complex_product(subject: Subject) -> bool:
    """Speak about products of complex numbers."""
    return subject.step.attrs["op"] == "product" and kind(dtype_of(subject)) == "complex"


def order_of_bools(subject: Subject) -> bool:
    """Speak about max and min of bool."""
    return subject.step.attrs["op"] in ("max", "min") and dtype_of(subject) == "bool"


def order_with_nan(subject: Subject) -> bool:
    """Speak about max and min of which some element has a NaN among its terms, as far as these are known.

    They are not where only what is made of the result is a result of the program.
    """
    if subject.step.attrs["op"] not in ("max", "min") or not subject.has("values", "nan"):
        return False
    masks = nan_among(subject)
    return not masks or any(mask is not None and mask.any() for each in masks.values() for mask in each)


_WRAPS: Final = about(wraps, reductions("sum", "product", kinds=("integer",)))

_SCALED: Final = mean_of("float", "complex", powers=False)

_POWERS: Final = nan_of(
    "jax",
    'Nothing is said of reductions of float8_e8m0fnu, which holds scales: it has "no zero and infinity" and no sign '
    "(ml_dtypes), from which sums and extremes begin. Those of the processor are NaN.",
    "float8_e8m0fnu",
)

REDUCTION: tuple[Clause, ...] = (
    diverging(
        variant(
            "reduction.C1",
            "The reduction sum adds the terms; of integers see `reduction.C12`, of bools `reduction.C11` and "
            "`reduction.C21`, of additions that round `numerics.C1`, of no terms `all_reduce.C5`.",
            "jax.psum",
            attr("op", "sum"),
        ),
        _POWERS,
    ),
    variant(
        "reduction.C2",
        "The reduction product multiplies the terms; of integers see `reduction.C12`, of bools `reduction.C11` and "
        "`reduction.C21`, of complex numbers `reduction.C18`, of multiplications that round `numerics.C4`, of no "
        "terms `all_reduce.C5`.",
        "mpi.operations",
        attr("op", "product"),
    ),
    diverging(
        variant(
            "reduction.C3",
            "The reduction max gives the greatest term; beside a NaN see `reduction.C20`, of zeros of both signs "
            "`numerics.C21`, of bools `reduction.C19`, of complex numbers `reduction.C16`, of no terms "
            "`all_reduce.C5`.",
            "jax.pmax",
            attr("op", "max"),
        ),
        _POWERS,
    ),
    diverging(
        variant(
            "reduction.C4",
            "The reduction min gives the least term; beside a NaN see `reduction.C20`, of zeros of both signs "
            "`numerics.C21`, of bools `reduction.C19`, of complex numbers `reduction.C16`, of no terms "
            "`all_reduce.C5`.",
            "jax.pmin",
            attr("op", "min"),
        ),
        _POWERS,
    ),
    variant(
        "reduction.C5",
        "The reduction `and` of integers gives the bits that are set in every term, and of bools whether all terms "
        "are true; of other dtypes see `reduction.C15`, of no terms `all_reduce.C5`.",
        "mpi.operations",
        attr("op", "and"),
    ),
    variant(
        "reduction.C6",
        "The reduction `or` of integers gives the bits that are set in at least one term, and of bools whether any "
        "term is true; of other dtypes see `reduction.C15`.",
        "mpi.operations",
        attr("op", "or"),
    ),
    variant(
        "reduction.C7",
        "The reduction `xor` of integers gives the bits that are set in an odd number of terms, and of bools whether "
        "the number of true terms is odd; of other dtypes see `reduction.C15`.",
        "mpi.operations",
        attr("op", "xor"),
    ),
    variant(
        "reduction.C8",
        "The reduction premul_sum multiplies every term by the attribute `factor`, rounded to the dtype of the terms, "
        "or to that of the parts of complex terms, and adds the products (`numerics.C3`); over no mesh axis and no "
        "local axis see `collective.C21` and `collective.C30`.",
        "torch.distributed: ReduceOp.PREMUL_SUM",
        attr("op", "premul_sum"),
    ),
    diverging(
        value(
            "reduction.C9",
            "A mean of floats or complex numbers over a number of terms that is a power of two is their sum divided "
            "by that number, or the sum of the terms each divided by it, as the number model says. Each division "
            "rounds nothing but a subnormal quotient.",
            "jax.pmean",
            mean_of("float", "complex", powers=True),
        ),
        _POWERS,
    ),
    value(
        "reduction.C10",
        "A mean of floats or complex numbers over a number of terms that is neither zero nor a power of two is, as "
        "the number model says, their sum divided by that number or multiplied by its rounded inverse, or the sum of "
        "the terms each divided or multiplied so.",
        "jax.pmean",
        about(lambda s: _SCALED(s) and local_terms(s) > 0, _SCALED.needs),
    ),
    diverging(
        value(
            "reduction.C11",
            "A sum or a product of bools is computed and returned in int32, where true counts as 1 and false as 0; "
            "over no mesh axis and no local axis see `collective.C21` and `collective.C30`.",
            "jax.psum: boolean inputs",
            counts_bools,
            "should",
        ),
        means("stablehlo", "add is logical OR for booleans, multiply logical AND.", logical),
        means("torch", "A reduction keeps the dtype of its tensor, so that a sum of bools is a disjunction.", logical),
        means(
            "tinygrad",
            "Tensor.prod chooses its dtype by that of its tensor, so that a product of bools is a conjunction.",
            conjoined,
        ),
        refuses(
            "jax",
            'psum converts bools to integers, psum_scatter does not: "add does not accept dtype bool".',
            scatters_bools,
        ),
    ),
    diverging(
        value(
            "reduction.C12",
            "Sums and products of integers wrap around: the result is the number of their dtype that is congruent to "
            "the exact result modulo 2**w, where w is the width of the dtype in bits.",
            "numpy.integers",
            _WRAPS,
        ),
        leaves_open(
            "mpi",
            "MPI 4.1 6.9.2 lists the operations and says nothing of results that their type cannot hold, and "
            "implementations differ: Open MPI saturates 8 and 16 bits where it has vector instructions (#8045).",
            past_range,
        ),
    ),
    diverging(
        value(
            "reduction.C13",
            "A mean of integers is the wrapped sum divided by the number of terms, a mean of bools the number of true "
            "terms divided by it: in float64, which is the dtype of the result, and NaN without terms; over no mesh "
            "axis and no local axis see `collective.C30`.",
            "jax.pmean",
            mean_of("integer", "bool"),
            "should",
        ),
        Divergence(
            "jax",
            "Division takes bools and integers of fewer than 64 bits to float32, with 64-bit types too.",
            narrow_mean_in_float32,
        ),
        Divergence("tinygrad", "Tensor.mean of integers and bools is float32.", mean_in_float32),
    ),
    rejection(
        "reduction.C14",
        "An attribute `op` of all_reduce, reduce, reduce_scatter or scan that is no reduction is rejected, except "
        "over no mesh axis and no local axis (`collective.C21`, `collective.C30`) or without operands "
        "(`collective.C27`).",
        "mpi.operations",
    ),
    rejection(
        "reduction.C15",
        "The reductions `and`, `or` and `xor` of floats and complex numbers are rejected, except over no mesh axis "
        "and no local axis (`collective.C21`, `collective.C30`) or without operands (`collective.C27`).",
        "mpi.operations",
    ),
    diverging(
        rejection(
            "reduction.C16",
            "The reductions max and min of complex numbers, which have no order, are rejected, except over no mesh "
            "axis and no local axis (`collective.C21`, `collective.C30`) or without operands (`collective.C27`).",
            "mpi.operations",
            "should",
        ),
        accepts("stablehlo", "maximum and minimum order complex numbers lexicographically."),
        accepts("jax", "lax.max and lax.min, which pmax and pmin fold by, order complex numbers lexicographically."),
    ),
    rejection(
        "reduction.C17",
        "A premul_sum of bools or integers is rejected, except over no mesh axis and no local axis (`collective.C21`, "
        "`collective.C30`) or without operands (`collective.C27`).",
        "torch.distributed: ReduceOp.PREMUL_SUM",
        "should",
    ),
    diverging(
        value(
            "reduction.C18",
            "A product of complex numbers multiplies them as complex numbers, (a + bi)(c + di) = (ac - bd) + (ad + "
            "bc)i, and not part by part; of multiplications that round see `numerics.C4`.",
            "mpi.operations",
            about(complex_product, reductions("product", kinds=("complex",))),
        ),
        refuses("torch", 'ReduceOp: "MAX, MIN and PRODUCT are not supported for complex tensors".'),
    ),
    value(
        "reduction.C19",
        "The max of bools is the `or` of the terms, their min is the `and` of the terms, and both are bools; of no "
        "terms see `all_reduce.C5`.",
        "jax.pmax",
        about(order_of_bools, reductions("max", "min", kinds=("bool",)), dtype=("bool",)),
    ),
    diverging(
        value(
            "reduction.C20",
            "The reductions max and min of floats give NaN for every element of which at least one term is NaN.",
            "numpy.maximum",
            order_with_nan,
            "should",
            nan_among,
        ),
        any_term("torch", "ReduceOp names MAX and MIN and says nothing of what is no number.", nan_among),
        any_term(
            "mpi",
            "MPI 4.1 6.9.2 names MPI_MAX and MPI_MIN and says nothing of what is no number, which has no order.",
            nan_among,
        ),
    ),
    replace(
        value(
            "reduction.C21",
            "A sum or a product of bools is returned in one dtype on all ranks: bool, integer or float. A sum is in "
            "every element the `or` of the terms, or in every element the number of true ones, added in that dtype; a "
            "product is the `and`.",
            "jax.psum: boolean inputs",
            about(counts_bools, reductions("sum", "product", kinds=("bool",)), dtype=("bool",)),
        ),
        check=counted_or_any,
    ),
    Clause(
        "reduction.C22",
        "must",
        "A mean of integers or bools with terms, whose sum does not wrap around, is the sum divided by their number: "
        "rounded up or down in an integer dtype or bool, in a float dtype as some number model computes means "
        "(`numerics.C2`); over no mesh axis see `collective.C30`.",
        lambda s: s.legal and not s.step.idle and bool(s.folds.by_result) and mean_of("integer", "bool")(s),
        quotients,
        "jax.pmean",
        each=True,
        needs=(LEGAL, *reductions("mean", kinds=("integer", "bool"))),
    ),
    value(
        "reduction.C23",
        "A mean of floats or complex numbers that has no terms is NaN, in a complex dtype in both parts.",
        "jax.pmean",
        about(lambda s: _SCALED(s) and folds_nothing(s), _SCALED.needs),
        "should",
    ),
)
