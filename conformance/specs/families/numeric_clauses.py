"""What holds of numbers: results whose order of operations, or whose special values, decide them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from conformance.cases.tensor.dtypes import DRAWN, infinite, kind
from conformance.judging.clause import Clause
from conformance.judging.numbers.admissible import admissible_strictly
from conformance.judging.numbers.recommended_elements import columns_where
from conformance.judging.subject import Subject
from conformance.specs.divergences import admits, diverging
from conformance.specs.domains.decisive_values import FLUSHED, GRADUAL
from conformance.specs.families import numeric_facts as facts
from conformance.specs.families.numeric_facts import ADDING, some
from conformance.specs.op import about, value

REALS: Final = tuple(name for name in DRAWN if kind(name) == "float")


def strict(id: str, text: str, source: str, when: Callable[[Subject], bool]) -> Clause:
    """Return a *should* that settles which of several values is right, where every *must* admits all of them."""
    admits = value(id, text, source, when, "should")
    return replace(admits, check=admissible_strictly)


CLAUSES: Final[tuple[Clause, ...]] = (
    value(
        "numerics.C1",
        "Where an order of its additions rounds, a sum is the result of some tree over its terms, in the number "
        "model of the implementation.",
        "jax.psum; stablehlo.all_reduce",
        some(facts.order_sensitive, "sum"),
    ),
    value(
        "numerics.C2",
        "Where an order of its additions rounds, a mean is what some tree over its terms gives, divided by their "
        "number, or what some tree over the scaled terms gives, as the number model of the implementation says.",
        "jax.pmean",
        some(facts.order_sensitive, "mean"),
    ),
    value(
        "numerics.C3",
        "Where an order of its additions rounds, a premul_sum is what some tree over the products of the terms and the "
        "factor gives; a product and an addition round once together where the number model says that they are fused.",
        "torch.distributed: ReduceOp.PREMUL_SUM",
        some(facts.order_sensitive, "premul_sum"),
    ),
    value(
        "numerics.C4",
        "Where an order of its multiplications rounds, a product is the result of some tree over its factors in "
        "the number model of the implementation, or lies within the error bound of products.",
        "mpi.reduce; mpi.scan",
        some(facts.order_sensitive, "product"),
    ),
    value(
        "numerics.C5",
        "A NaN among the terms of an element of a sum, a mean, a premul_sum or a product of real numbers makes this "
        "element NaN, and no other. Of complex sums see `numerics.C22`, of complex products `numerics.C23`.",
        "ieee754: section 6.2",
        about(some(facts.has_nan, *ADDING, "product"), values=("nan",)),
    ),
    value(
        "numerics.C6",
        "A sum, a mean or a premul_sum of real numbers, or a part of one of complex numbers, is -0.0 where it has at "
        "least one term and its terms, once they are scaled, are all -0.0, since a sum does not start at +0.0.",
        "ieee754: section 6.3",
        some(facts.all_minus_zero, *ADDING),
        "should",
        columns_where(facts.all_minus_zero, facts.may_vanish),
    ),
    value(
        "numerics.C7",
        "A sum, a mean or a premul_sum of real numbers, or a part of one of complex numbers, that is exactly zero in "
        "every order of its terms is +0.0, where these, once they are scaled, are not all -0.0.",
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
        "A product of real numbers with an infinite factor and no NaN is NaN where another factor is zero, else an "
        "infinity with the sign that the factors give, unless the number model saturates or the other factors, in some "
        "order, underflow or are flushed to zero.",
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
        "Subnormal terms and results of float64, complex128, float8_e4m3fn and float8_e5m2 are kept, "
        "unless the number model flushes them to zero.",
        "ieee754: section 3.4",
        some(facts.subnormal, *ADDING, "product", "max", "min", dtypes=GRADUAL),
    ),
    value(
        "numerics.C13",
        "Subnormal terms and results of float16, bfloat16, float32 and complex64 are kept, unless "
        "the number model flushes them to zero.",
        "ieee754: section 3.4",
        some(facts.subnormal, *ADDING, "product", "max", "min", dtypes=FLUSHED),
    ),
    value(
        "numerics.C14",
        "In a format with infinities, an element of a sum, a premul_sum or a product of real numbers "
        "that every order of the terms takes past the greatest finite number of one sign is that "
        "infinity, unless the number model saturates.",
        "ieee754: section 7.4",
        some(facts.overflows, "sum", "premul_sum", "product", dtypes=[*filter(infinite, REALS)]),
    ),
    value(
        "numerics.C15",
        "In float8_e4m3fn, which has no infinity, a sum, a mean, a premul_sum or a product that in its number model "
        "every order of the terms takes past the greatest finite number is NaN, unless the number model saturates.",
        "ocp.ofp8",
        about(some(facts.may_overflow, *ADDING, "product", dtypes=("float8_e4m3fn",)), dtype=("float8_e4m3fn",)),
    ),
    value(
        "numerics.C16",
        "A mean of floats or complex numbers over a number of terms that is neither zero nor a power of two is their "
        "sum divided by that number and rounded once, or what the scaling gives that the number model declares.",
        "jax.pmean",
        some(facts.inexact_quotient, "mean"),
    ),
    value(
        "numerics.C17",
        "Where some orders of the terms of an element overflow and others do not, the element is the result of one of "
        "the orders.",
        "ieee754: section 7.4",
        some(facts.order_overflows, *ADDING, "product", dtypes=[*filter(infinite, REALS)]),
    ),
    value(
        "numerics.C18",
        "In a dtype whose greatest number is above 65504, the greatest of float16, a sum or a premul_sum of a "
        "magnitude above 65504, or a mean of such a sum, is finite where no order of the terms overflows that dtype.",
        "ieee754: section 7.4",
        some(facts.large, *ADDING),
    ),
    diverging(
        strict(
            "numerics.C19",
            "The count of a mean and the factor of a premul_sum are real numbers: a NaN or an infinity in one "
            "part of a complex term leaves the other part of the result alone.",
            "c11.complex: G.5.1",
            facts.parts_apart("mean", "premul_sum"),
        ),
        admits("jax", "pmean divides by a count that is taken to a complex number, as its source does."),
    ),
    value(
        "numerics.C20",
        "Where no term is NaN and the greatest term is a zero, max gives a zero that is one of the terms; so does min "
        "where the least term is a zero.",
        "jax.pmax; mlx.distributed: all_max, all_min",
        some(facts.zero_is_chosen, "max", "min"),
    ),
    diverging(
        strict(
            "numerics.C21",
            "Where the terms include zeros of both signs and no NaN, max gives +0.0 if no term is greater than zero, "
            "and min gives -0.0 if no term is less.",
            "ieee754: section 9.6",
            some(facts.both_zeros, "max", "min"),
        ),
        admits("mlx", "all_max and all_min give the maximum and the minimum, and nothing is said of zeros."),
        admits("mpi", "MPI 4.1 6.9.2 names MPI_MAX and MPI_MIN, and both zeros are equal as C compares them."),
        admits("torch", "ReduceOp names MAX and MIN and says nothing of zeros, which are equal as C++ compares them."),
        admits("tinygrad", "Tensor.max and Tensor.min say nothing of zeros."),
    ),
    value(
        "numerics.C22",
        "A complex sum adds the parts separately: a NaN or an infinity in one part of a term leaves the other part of "
        "the sum alone.",
        "c11.complex: G.5.2",
        facts.parts_apart("sum"),
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
        "A complex product with a factor that has an infinite part, and with no NaN, is, in some "
        "order of the factors, what the formula of complex products gives or what C11 annex G "
        "recovers from it.",
        "c11.complex: G.5.1",
        some(facts.complex_infinity, "product"),
    ),
    value(
        "numerics.C25",
        "A complex product with a factor that is zero, where no order of the factors gives an infinity or a NaN, is "
        "zero in both parts, with the signs that the formula of complex products gives in some order of the factors.",
        "c11.complex: G.5.1",
        some(facts.complex_zero, "product"),
    ),
    value(
        "numerics.C26",
        "A part of a product of finite complex factors is an infinity where its exact value rounds to that infinity, "
        "and every order of the factors, fused or not, gives it.",
        "c11.complex: G.5.1",
        some(facts.complex_overflows, "product"),
    ),
)
