"""What holds of numbers: results whose order of operations, or whose special values, decide them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

import numpy as np

from conformance.cases.tensor.dtypes import DRAWN, infinite, kind
from conformance.judging.clause import Clause
from conformance.judging.divergences import admits, any_term, diverging
from conformance.judging.numbers import facts
from conformance.judging.numbers.admissible import admissible_strictly
from conformance.judging.numbers.column import Column
from conformance.judging.numbers.facts import ADDING, FLUSHED, GRADUAL
from conformance.judging.numbers.recommended_elements import columns_where, nan_among
from conformance.judging.subject import Subject
from conformance.specs.op import About, about, reductions, value

REALS: Final = tuple(name for name in DRAWN if kind(name) == "float")


def strict(id: str, text: str, source: str, when: Callable[[Subject], bool]) -> Clause:
    """Return a *should* that settles which of several values is right, where every *must* admits all of them."""
    admits = value(id, text, source, when, "should")
    return replace(admits, check=admissible_strictly)


def some(fact: Callable[[Column], bool], *ops: str, dtypes: Iterable[str] = ()) -> About:
    """Speak about reductions by ``ops``, of ``dtypes`` where there are any, with an element of which ``fact`` holds."""
    wanted = frozenset(dtypes)

    def speaks(subject: Subject) -> bool:
        if subject.step.attrs.get("op") not in ops:
            return False
        return any(
            each.op in ops and (not wanted or each.dtype in wanted) and fact(each) for each in subject.folds.columns
        )

    return about(speaks, reductions(*ops, kinds=("float", "complex")))


def parts_apart(*ops: str) -> About:
    """Speak about complex reductions by ``ops`` that come to a number in one part and to none in the other."""

    def speaks(subject: Subject) -> bool:
        return subject.step.attrs.get("op") in ops and any(
            block is not None
            and block.dtype.kind == "c"
            and bool((np.isfinite(block.real) != np.isfinite(block.imag)).any())
            for blocks in subject.expected.values()
            for block in blocks
        )

    return about(speaks, reductions(*ops, kinds=("complex",)))


CLAUSES: Final[tuple[Clause, ...]] = (
    value(
        "numerics.C1",
        "Where additions round in some order, each element of a sum, and each part of a complex one, is the result of "
        "some tree over its terms, in any order, in the implementation's number model; where these are too many to "
        "try, it lies between the bounds of all.",
        "jax.psum; stablehlo.all_reduce",
        some(facts.order_sensitive, "sum"),
    ),
    value(
        "numerics.C2",
        "Where additions round in some order, each element of a mean, and each part of a complex one, is what some "
        "tree over its terms gives, divided by their number, or what some tree over the scaled terms gives, as the "
        "number model says. Of too many trees see `numerics.C1`.",
        "jax.pmean",
        some(facts.order_sensitive, "mean"),
    ),
    value(
        "numerics.C3",
        "Where additions round in some order, each element of a premul_sum is what some tree over the products of its "
        "terms and the factor gives; a product and an addition round once together where the number model says that "
        "they are fused. Of too many trees see `numerics.C1`.",
        "torch.distributed: ReduceOp.PREMUL_SUM",
        some(facts.order_sensitive, "premul_sum"),
    ),
    value(
        "numerics.C4",
        "Where multiplications round in some order, each element of a product is the result of some tree over its "
        "factors, in any order, in the implementation's number model. Of complex factors, and where the trees are too "
        "many to try, it lies within the error bound of products.",
        "mpi.reduce; mpi.scan",
        some(facts.order_sensitive, "product"),
    ),
    value(
        "numerics.C5",
        "A NaN among the terms of an element of a sum, a mean, a premul_sum or a product of real numbers makes this "
        "element NaN, and no other element. Of complex sums see `numerics.C22`, of complex products `numerics.C23`.",
        "ieee754: section 6.2",
        about(some(facts.has_nan, *ADDING, "product"), values=("nan",)),
    ),
    value(
        "numerics.C6",
        "An element of a sum, a mean or a premul_sum of real numbers, or a part of one of complex numbers, is -0.0 "
        "where all its terms, of which it has some, are -0.0 once the factor or their number scales them, since a sum "
        "does not start at +0.0.",
        "ieee754: section 6.3",
        some(facts.all_minus_zero, *ADDING),
        "should",
        columns_where(facts.all_minus_zero, facts.may_vanish, ADDING),
    ),
    value(
        "numerics.C7",
        "An element of a sum, a mean or a premul_sum of real numbers, or a part of one of complex numbers, that is "
        "exactly zero in every order of its terms is +0.0, where these, scaled by the factor or by their number, are "
        "not all -0.0.",
        "ieee754: section 6.3",
        some(facts.cancels, *ADDING),
    ),
    value(
        "numerics.C8",
        "Where no term is NaN, a sum or mean of real numbers with infinite terms of one sign is that infinity, and a "
        "premul_sum is the infinity times the factor, unless the number model saturates, or the other terms, once "
        "scaled, overflow to the opposite infinity in some order.",
        "ieee754: section 6.1",
        some(facts.one_infinity, *ADDING),
    ),
    value(
        "numerics.C9",
        "A sum, a mean or a premul_sum of real numbers with infinite terms of both signs is NaN, unless the number "
        "model saturates.",
        "ieee754: section 7.2",
        some(facts.both_infinities, *ADDING),
    ),
    value(
        "numerics.C10",
        "A product of real numbers with an infinite factor and no NaN is NaN where another factor is zero, else the "
        "infinity whose sign the signs of the factors give, unless the number model saturates or the other factors, "
        "in some order, underflow or are flushed to zero.",
        "ieee754: section 7.2",
        some(facts.has_infinity, "product"),
    ),
    value(
        "numerics.C11",
        "A product of real numbers with a factor that is zero is a zero with the sign that the signs of the "
        "factors give, where no factor is infinite or NaN and no order of the others overflows.",
        "ieee754: section 6.3",
        some(facts.has_zero, "product"),
    ),
    value(
        "numerics.C12",
        "In a reduction of float64, complex128, float8_e4m3fn or float8_e5m2 a subnormal term counts with its value, "
        "and a subnormal result is given as it is, unless the number model flushes them to zero.",
        "ieee754: section 3.4",
        some(facts.subnormal, *ADDING, "product", "max", "min", dtypes=GRADUAL),
    ),
    value(
        "numerics.C13",
        "In a reduction of float16, bfloat16, float32 or complex64 a subnormal term counts with its value, and a "
        "subnormal result is given as it is, unless the number model flushes them to zero.",
        "ieee754: section 3.4",
        some(facts.subnormal, *ADDING, "product", "max", "min", dtypes=FLUSHED),
    ),
    value(
        "numerics.C14",
        "In a format with infinities, an element of a sum, a premul_sum or a product of real numbers that every order "
        "of its terms, in the number model, takes past the greatest finite number of one sign is the infinity of that "
        "sign, unless the number model saturates.",
        "ieee754: section 7.4",
        some(facts.overflows, "sum", "premul_sum", "product", dtypes=[*filter(infinite, REALS)]),
    ),
    value(
        "numerics.C15",
        "In float8_e4m3fn, which has no infinity, an element of a sum, a mean, a premul_sum or a product that every "
        "order of its terms, in the number model, takes past the greatest finite number is NaN, unless the number "
        "model saturates.",
        "ocp.ofp8",
        about(some(facts.may_overflow, *ADDING, "product", dtypes=("float8_e4m3fn",)), dtype=("float8_e4m3fn",)),
    ),
    value(
        "numerics.C16",
        "An element of a mean of floats or complex numbers over a number of terms that is neither zero nor a power of "
        "two is their sum divided by that number, rounded once more, or what the scaling gives that the number model "
        "declares instead.",
        "jax.pmean",
        some(facts.inexact_quotient, "mean"),
    ),
    value(
        "numerics.C17",
        "Where some orders of the terms of an element of a sum, a mean, a premul_sum or a product of real numbers "
        "overflow and others do not, the element is the result of one of these orders in the number model.",
        "ieee754: section 7.4",
        some(facts.order_overflows, *ADDING, "product", dtypes=[*filter(infinite, REALS)]),
    ),
    value(
        "numerics.C18",
        "In a dtype whose greatest number is above 65504, the greatest of float16, an element of a sum or a "
        "premul_sum of a magnitude above 65504, or of a mean of such a sum, is finite where no order of its terms "
        "overflows that dtype.",
        "ieee754: section 7.4",
        some(facts.large, *ADDING),
    ),
    diverging(
        strict(
            "numerics.C19",
            "The count of a mean and the factor of a premul_sum are real numbers: a NaN or an infinity in one "
            "part of a complex term leaves the other part of the result alone.",
            "c11.complex: G.5.1",
            parts_apart("mean", "premul_sum"),
        ),
        admits("jax", "pmean divides by a count that is taken to a complex number, as its source does."),
    ),
    value(
        "numerics.C20",
        "Where no term is NaN and the greatest is a zero, max gives a zero that is among the terms; so does min where "
        "the least is a zero. Subnormal terms that the number model flushes compare as zeros, and can be given as "
        "they are.",
        "jax.pmax; mlx.distributed: all_max, all_min",
        some(facts.zero_is_chosen, "max", "min"),
    ),
    diverging(
        strict(
            "numerics.C21",
            "Where zeros of both signs are among the terms, and neither a NaN nor a subnormal number that the number "
            "model flushes, max gives +0.0 if no term is greater than zero, and min gives -0.0 if no term is less.",
            "ieee754: section 9.6",
            some(facts.both_zeros, "max", "min"),
        ),
        admits("mlx", "all_max and all_min give the maximum and the minimum, and nothing is said of zeros."),
        any_term(
            "mpi", "MPI 4.1 6.9.2 names MPI_MAX and MPI_MIN, and both zeros are equal as C compares them.", nan_among
        ),
        any_term(
            "torch",
            "ReduceOp names MAX and MIN and says nothing of zeros, which are equal as C++ compares them.",
            nan_among,
        ),
        admits("tinygrad", "Tensor.max and Tensor.min say nothing of zeros."),
    ),
    value(
        "numerics.C22",
        "A complex sum adds the parts separately: a NaN or an infinity in one part of a term leaves the other part of "
        "the sum alone.",
        "c11.complex: G.5.2",
        parts_apart("sum"),
    ),
    value(
        "numerics.C23",
        "Where a complex product has at least two factors, none of which is infinite, and no order of the factors "
        "overflows, a NaN in either part of a factor makes both parts of the product NaN.",
        "c11.complex: G.5.1",
        some(facts.complex_nan, "product"),
    ),
    value(
        "numerics.C24",
        "A complex product of which a factor has an infinite part, and none a NaN, is what some order of the factors "
        "gives by (ac - bd) + (ad + bc)i for a + bi and c + di, or what C11 annex G recovers from that.",
        "c11.complex: G.5.1",
        some(facts.complex_infinity, "product"),
    ),
    value(
        "numerics.C25",
        "A complex product with a factor that is zero, where no order of the factors gives an infinity or a NaN, is "
        "zero in both parts, with the signs that (ac - bd) + (ad + bc)i, of a + bi and c + di, gives in some order.",
        "c11.complex: G.5.1",
        some(facts.complex_zero, "product"),
    ),
    value(
        "numerics.C26",
        "A part of a product of finite complex factors is an infinity where its exact value rounds to that infinity "
        "and every order of the factors gives it, whether products and sums are rounded apart or once together.",
        "c11.complex: G.5.1",
        some(facts.complex_overflows, "product"),
    ),
)
