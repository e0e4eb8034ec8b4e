"""What the terms of an element are like, for the clauses of the suite ``numerics`` to ask."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from conformance.cases.dtypes import kind
from conformance.judging.clause import Subject
from conformance.judging.column import Column
from conformance.judging.precision import negative
from conformance.specs.sensitive import HALF

ADDING = ("sum", "mean", "premul_sum")


def some(fact: Callable[[Column], bool], *ops: str, dtypes: Iterable[str] = ()) -> Callable[[Subject], bool]:
    """Speak about reductions by ``ops``, of ``dtypes`` where there are any, with an element of which ``fact`` holds."""
    known, wanted = lru_cache(maxsize=8192)(fact), frozenset(dtypes)

    def speaks(subject: Subject) -> bool:
        if subject.step.attrs.get("op") not in ops:
            return False
        return any(each.op in ops and (not wanted or each.dtype in wanted) and known(each) for each in subject.columns)

    return speaks


def order_sensitive(terms: Column) -> bool:
    """Return whether the terms are numbers whose partial results may round."""
    return terms.finite and not terms.order_free


def has_nan(terms: Column) -> bool:
    """Return whether some term is NaN."""
    return bool(np.isnan(terms.terms).any())


def all_minus_zero(terms: Column) -> bool:
    """Return whether every term is -0.0."""
    return terms.finite and all(not any(pair) for pair in terms.numbers) and all(map(negative, terms.terms))


def cancels(terms: Column) -> bool:
    """Return whether finite terms come to exactly zero without all being -0.0."""
    return terms.finite and not any(terms.exact) and terms.order_free and not all_minus_zero(terms)


def one_infinity(terms: Column) -> bool:
    """Return whether infinities of one sign stand among the terms, and no NaN."""
    return not has_nan(terms) and len(_infinities(terms)) == 1


def both_infinities(terms: Column) -> bool:
    """Return whether infinities of both signs stand among the terms, and no NaN."""
    return not has_nan(terms) and len(_infinities(terms)) == 2


def has_infinity(terms: Column) -> bool:
    """Return whether the terms are real, and some infinite and none NaN."""
    return kind(terms.dtype) == "float" and not has_nan(terms) and bool(_infinities(terms))


def has_zero(terms: Column) -> bool:
    """Return whether the terms are real numbers and some of them zero."""
    return kind(terms.dtype) == "float" and terms.finite and any(not re for re, _ in terms.numbers)


def subnormal(terms: Column) -> bool:
    """Return whether a term, a scaled term, the result or a product of some terms is subnormal or underflows."""
    if not terms.finite:
        return False
    parts = [abs(part) for pair in (*terms.added, terms.exact) for part in pair]
    if terms.op in ("mean", "premul_sum"):
        parts += [abs(Fraction(re)) for re, _ in terms.parts]
    if terms.op == "product":
        sizes = [max(abs(re), abs(im)) for re, im in terms.numbers]
        parts.append(math.prod((min(size, Fraction(1)) for size in sizes if size), start=Fraction(1)))
    return any(0 < part < terms.format.normal for part in parts)


def overflows(terms: Column) -> bool:
    """Return whether every order of the terms, all numbers, overflows, and none to the other infinity."""
    if not terms.finite or terms.sure or kind(terms.dtype) != "float" or terms.op == "mean":
        return False
    exact, far = (
        terms.exact[0],
        terms.bound[0] if terms.op != "product" else abs(terms.exact[0]) * 5 / 8,
    )  # (1 - 1/8) ** 7 > 3/8
    if terms.op != "product" and _reach(terms, -1 if exact > 0 else 1) == math.inf:
        return False
    return terms.format.rounded(abs(exact) - far) == math.inf and not subnormal(terms)


def order_overflows(terms: Column) -> bool:
    """Return whether some order of the terms, all numbers, may overflow, and not every one need do so."""
    if not terms.finite or terms.sure or kind(terms.dtype) != "float" or overflows(terms):
        return False
    if terms.op == "product":
        sizes = [max(abs(re), Fraction(1)) for re, _ in terms.numbers]
        return terms.format.rounded(math.prod(sizes)) == math.inf
    return math.inf in (_reach(terms, 1), _reach(terms, -1))


def large(terms: Column) -> bool:
    """Return whether the terms come to more than the greatest float16, and no order of them overflows."""
    if not terms.finite or abs(terms.exact[0]) * (len(terms.terms) if terms.op == "mean" else 1) <= HALF:
        return False
    return terms.sure or math.inf not in (_reach(terms, 1), _reach(terms, -1))


def inexact_quotient(terms: Column) -> bool:
    """Return whether the terms are divided by a count that is no power of two."""
    return terms.finite and len(terms.terms) & (len(terms.terms) - 1) != 0


def scales_infinity(subject: Subject) -> bool:
    """Speak about complex means and premul_sums with an infinite part in the result."""
    if subject.step.attrs.get("op") not in ("mean", "premul_sum"):
        return False
    return any(
        block is not None and block.dtype.kind == "c" and bool(np.isinf(block).any())
        for blocks in subject.expected.values()
        for block in blocks
    )


def _infinities(terms: Column) -> set[float]:
    return {part for pair in terms.parts for part in pair if isinstance(part, float) and math.isinf(part)}


def _reach(terms: Column, sign: int) -> Fraction | float:
    """Return how far the terms of one sign reach when they are added first, rounded up."""
    whole = sum((max(sign * re, Fraction(0)) for re, _ in terms.added), start=Fraction(0))
    return terms.format.rounded(whole * (1 + terms.format.unit) ** terms.steps)
