"""What terms of which some are not finite may come to where trees are too many to go through."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from conformance.cases.tensor.dtypes import Array
from conformance.judging.numbers.column import Column
from conformance.judging.numbers.precision import negative


def reaches(terms: Column, value: Array) -> bool:
    """Return whether some tree may come to a value; of real terms, none of which is NaN.

    Each part of a complex product has a summand that an infinite or NaN part of a factor makes, and no other takes it
    back. Of real numbers what an infinity is added to or multiplied by is NaN where the rest comes to the other
    infinity, or to zero.
    """
    if terms.complex:
        return not (np.isfinite(value.real[0]) or np.isfinite(value.imag[0]))
    finite = [part for part, _ in terms.parts if isinstance(part, Fraction)]
    signs = {float(part) > 0 for part, _ in terms.parts if not isinstance(part, Fraction)}
    if terms.op == "product":
        return _multiplied(terms, finite, float(value[0]))
    return _added(terms, finite, signs, float(value[0]))


def _added(terms: Column, finite: list[Fraction], signs: set[bool], value: float) -> bool:
    if len(signs) > 1 or not terms.scale:
        return math.isnan(value)
    (up,) = signs
    # The sign of what the infinity is scaled by turns that of every other term as well.
    if math.isnan(value):
        scale = abs(terms.scale) if terms.op == "premul_sum" else Fraction(1)  # a mean may divide in the end
        against = sum((abs(part) for part in finite if (part > 0) != up), start=Fraction(0))
        return terms.format.rounded(against * scale * (1 + terms.format.unit) ** terms.steps) == math.inf
    return math.isinf(value) and (value > 0) == (up == (terms.scale > 0))


def _multiplied(terms: Column, finite: list[Fraction], value: float) -> bool:
    if not all(finite):
        return math.isnan(value)
    if math.isnan(value):
        least = math.prod((min(abs(part), Fraction(1)) for part in finite), start=Fraction(1))
        return least * (1 - terms.format.unit) ** terms.steps < terms.format.normal
    return math.isinf(value) and negative(value) == terms.negative
