"""What the terms of an element are like, as the clauses of the suite ``numerics`` ask."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.judging.numbers.classes import leaves, reachable, surely_overflows, zero_wins
from conformance.judging.numbers.column import MOST_COLUMNS, Column, remembered
from conformance.judging.numbers.precision import negative, precision
from conformance.reference.reductions import ORDER

HALF: Final = 65504.0
"""The greatest float16: sums beyond it show an accumulator with too few exponents."""

GRADUAL: Final = ("float8_e4m3fn", "float8_e5m2", "float64", "complex128")
"""Formats whose subnormal numbers nobody may do without: many of the numbers of the OCP formats, and CL_FP_DENORM is
required of double precision (OpenCL) as IEEE 754 requires it of all. For single and half precision OpenCL leaves it to
the device."""

FLUSHED: Final = ("float16", "bfloat16", "float32", "complex64")
"""The others."""

ADDING = ("sum", "mean", "premul_sum")


def order_sensitive(terms: Column) -> bool:
    """Return whether the terms are numbers whose partial results may round."""
    return terms.finite and not terms.order_free


def has_nan(terms: Column) -> bool:
    """Return whether the terms are real, and some NaN."""
    return not terms.complex and _any_nan(terms)


def complex_nan(terms: Column) -> bool:
    """Return whether the terms are complex, and some NaN, and nothing is infinite or may overflow."""
    return terms.complex and _any_nan(terms) and terms.order_free


def complex_infinity(terms: Column) -> bool:
    """Return whether the terms are complex, and some infinite and none NaN."""
    return terms.complex and not _any_nan(terms) and bool(_infinities(terms))


def complex_zero(terms: Column) -> bool:
    """Return whether the terms are complex numbers, some zero in both parts, and no product of others overflows."""
    if not terms.complex or not terms.finite or all(any(number) for number in terms.numbers):
        return False
    return not terms.may_be_infinite


def complex_overflows(terms: Column) -> bool:
    """Return whether the terms are complex numbers, and every order takes a part of them to the same infinity."""
    trees = reachable(terms)[1] if terms.complex and terms.finite and terms.may_be_infinite else None
    if trees is None:
        return False
    for exact, far, side in zip(terms.exact, terms.bound, (trees.real, trees.imag), strict=True):
        infinite = math.inf if exact > 0 else -math.inf
        if terms.format.rounded(abs(exact) - far) == math.inf and (side == infinite).all():
            return True
    return False


def all_minus_zero(terms: Column) -> bool:
    """Return whether every term is -0.0, once it is scaled."""
    # The sign of the first term, looked at alone, decides it of most columns.
    if not terms.complex and negative(terms.terms[0]) == negative(_scale(terms.terms, terms.op, terms.factor)):
        return False
    may = bool(may_vanish(terms.terms[np.newaxis], terms.op, terms.factor)[0])
    return may and terms.finite and all(value == 0 and negative(value) for value in leaves(terms))


def may_vanish(rows: Array, op: str, factor: float) -> Array:
    """Return of which rows of terms every real one may be a zero below zero once it is scaled.

    Nearly all that is drawn may not, and to scale it in every way that is admitted took 10 % of a native run.
    """
    found = np.ones(len(rows), bool)
    if rows.dtype.kind == "c" or not rows.size:
        return found
    scale, least = _scale(rows[0], op, factor), float(precision(logical(rows.dtype)).least)
    with np.errstate(all="ignore"):
        for terms in rows.T:
            wide = terms.astype(np.float64)
            found &= np.signbit(wide) != negative(scale)
            if not found.any():
                break
            found &= (np.abs(wide) * abs(scale) <= 2 * least) | np.isnan(wide)
    return found


def _scale(terms: Array, op: str, factor: float) -> float:
    return float(np.array(factor, terms.dtype)) if op == "premul_sum" else 1 / len(terms)


def zero_is_chosen(terms: Column) -> bool:
    """Return whether the greatest, or the least, is a zero."""
    return zero_wins(terms)


def both_zeros(terms: Column) -> bool:
    """Return whether the greatest, or the least, is either of two zeros that are there."""
    return zero_wins(terms) and len({negative(term) for term in terms.terms if term == 0}) == 2


def cancels(terms: Column) -> bool:
    """Return whether finite terms come to exactly zero without all being -0.0."""
    return terms.finite and not any(terms.exact) and terms.order_free and not all_minus_zero(terms)


def one_infinity(terms: Column) -> bool:
    """Return whether infinities of one sign stand among the terms, and no NaN."""
    return not _any_nan(terms) and len(_infinities(terms)) == 1


def both_infinities(terms: Column) -> bool:
    """Return whether infinities of both signs stand among the terms, and no NaN."""
    return not _any_nan(terms) and len(_infinities(terms)) == 2


def has_infinity(terms: Column) -> bool:
    """Return whether the terms are real, and some infinite and none NaN."""
    return kind(terms.dtype) == "float" and not _any_nan(terms) and bool(_infinities(terms))


def has_zero(terms: Column) -> bool:
    """Return whether the terms are real numbers and some of them zero."""
    return kind(terms.dtype) == "float" and terms.finite and any(not re for re, _ in terms.numbers)


def subnormal(terms: Column) -> bool:
    """Return whether a term, a scaled term, the result or a product of some terms is subnormal or underflows."""
    if not terms.finite:
        return False
    numbers = terms.added if terms.op in ORDER else (*terms.added, terms.exact)
    parts = [part for pair in numbers for part in pair]
    if terms.op in ("mean", "premul_sum"):
        parts += [Fraction(re) for re, _ in terms.parts]
    if terms.op == "product":
        sizes = [max(abs(re), abs(im)) for re, im in terms.numbers]
        parts.append(math.prod((min(size, Fraction(1)) for size in sizes if size), start=Fraction(1)))
    normal = terms.format.normal
    # In whole numbers: to compare fractions takes many times as long.
    return any(0 < abs(part.numerator) * normal.denominator < normal.numerator * part.denominator for part in parts)


def overflows(terms: Column) -> bool:
    """Return whether every order of the terms, all numbers, overflows, and none to the other infinity."""
    if not terms.finite or terms.sure or kind(terms.dtype) != "float" or terms.op == "mean" or _small(terms):
        return False
    if terms.op == "product":
        return surely_overflows(terms)
    exact, far = terms.exact[0], terms.bound[0]
    if _reach(terms, -1 if exact > 0 else 1) == math.inf:
        return False
    return terms.format.rounded(abs(exact) - far) == math.inf and not subnormal(terms)


def order_overflows(terms: Column) -> bool:
    """Return whether some order of the terms, all numbers, may overflow, and not every one need do so."""
    if not terms.finite or terms.sure or kind(terms.dtype) != "float" or _small(terms) or overflows(terms):
        return False
    if terms.op == "product":
        sizes = [max(abs(re), Fraction(1)) for re, _ in terms.numbers]
        return terms.format.rounded(math.prod(sizes)) == math.inf
    return math.inf in (_reach(terms, 1), _reach(terms, -1))


def may_overflow(terms: Column) -> bool:
    """Return whether every order of the terms, all numbers, overflows, or some may."""
    return overflows(terms) or order_overflows(terms)


def large(terms: Column) -> bool:
    """Return whether the terms come to more than the greatest float16, and no order of them overflows."""
    if not terms.finite or abs(terms.exact[0]) * (len(terms.terms) if terms.op == "mean" else 1) <= HALF:
        return False
    return terms.sure or _small(terms) or math.inf not in (_reach(terms, 1), _reach(terms, -1))


def inexact_quotient(terms: Column) -> bool:
    """Return whether the terms are divided by a count that is no power of two."""
    return terms.finite and len(terms.terms) & (len(terms.terms) - 1) != 0


def _any_nan(terms: Column) -> bool:
    return bool(np.isnan(terms.terms).any())


def _infinities(terms: Column) -> set[float]:
    return {part for pair in terms.parts for part in pair if isinstance(part, float) and math.isinf(part)}


@remembered(MOST_COLUMNS)
def _small(terms: Column) -> bool:
    """Return whether a glance at the sizes of terms that are added, all numbers, shows that no order overflows.

    To add fractions took half of what it takes to say which clauses speak about a reduction.
    """
    if terms.op == "product":
        return False
    with np.errstate(over="ignore"):
        most = float(np.abs(terms.terms.astype(np.complex128)).max(initial=0.0)) * max(1.0, abs(terms.factor))
        reached = most * len(terms.terms) * (1 + float(terms.format.unit)) ** terms.steps
    return reached * 1.5 < float(terms.format.greatest)  # itself rounded, some few times


def _reach(terms: Column, sign: int) -> Fraction | float:
    """Return how far the terms of one sign reach when they are added first, rounded up."""
    whole = sum((max(sign * re, Fraction(0)) for re, _ in terms.added), start=Fraction(0))
    return terms.format.rounded(whole * (1 + terms.format.unit) ** terms.steps)
