"""How far sums of more terms than trees can be gone through for may be from the exact one, whatever the tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np

from conformance.cases.declarations.number_model import word_of
from conformance.cases.tensor.dtypes import logical
from conformance.judging.numbers.column import Column, least_bit, parts_of
from conformance.judging.numbers.formats import rounded_to
from conformance.judging.numbers.model_operations import FLOAT64, ReductionArithmetic
from conformance.judging.numbers.precision import Precision, Real, precision

_EXTENDED: Final = Precision(64, Fraction(2) ** -16445, Fraction(2) ** 16384 - Fraction(2) ** 16320)

_MOST_GROWTH: Final = 64
"""Roundings, in units, past which the factor that they may come to says nothing."""

_ROUNDED: Final = 2.0**-40
"""More than an exponential of float64 is off by, relatively."""


class SumInterval(NamedTuple):
    """The least and the greatest result, and whether a partial sum may leave the format upwards, or downwards."""

    low: Fraction | float
    high: Fraction | float
    over: tuple[bool, bool]


def sum_interval(terms: Column, how: ReductionArithmetic) -> SumInterval:
    """Return the ends of what sums, means and premul_sums of finite terms come to in a number model.

    The i-th largest of the n - 1 nodes of a tree has at most n - i + 1 leaves below it, and what it adds is at most
    the sum of that many of the greatest terms of one sign, and of the errors made before. Beside that every leaf counts
    with a factor that all roundings above it may come to (``docs/numerics.md``).
    """
    form = _EXTENDED if word_of(how.words, "accumulate") == "extended" else precision(_name(how, terms.dtype))
    sent = None if how.sent is None else precision(logical(how.sent))
    parts = _leaves(terms, how)
    leaf_errors = [_leaf_error(part, terms, how) for part in parts]
    lost = sum(leaf_errors, start=Fraction(0))
    grid = min((least_bit(part) for part in parts if part), default=Fraction(1)) if not lost else Fraction(0)
    exact = sum(parts, start=Fraction(0))
    sides = [sorted((side * part for part in parts if side * part > 0), reverse=True) for side in (1, -1)]
    sums = [list(accumulate(side, initial=Fraction(0))) for side in sides]
    tiny = form.normal if any(how.flushes) else Fraction(0)
    for size in range(2, len(parts) + 1):
        most = max(side[min(size, len(side) - 1)] for side in sums) + lost
        lost += tiny
        if grid and most <= grid * 2**form.digits and (sent is None or most <= grid * 2**sent.digits):
            continue
        lost += form.quantum(most) / 2 + (sent.quantum(most) / 2 if sent is not None else 0)
    flushes, formats = any(how.flushes), [each for each in (form, sent) if each is not None]
    # What is rounded at a normal leaf is one more factor, or two where the inverse of a count is rounded before.
    apart = [far for part, far in zip(parts, leaf_errors, strict=True) if flushes or abs(part) < terms.format.normal]
    rounding = [(len(parts) - 1, each) for each in formats] + ([(2, terms.format)] if any(leaf_errors) else [])
    slack = _Slack(sum(apart, start=Fraction(0)), tiny * len(parts), *_growth(rounding))
    up, down = (side[-1] for side in sums)
    over = [
        any(each.rounded(min(total + lost, slack.reach(total))) == math.inf for each in formats)
        or (bool(side) and terms.format.rounded(side[0]) == math.inf)  # a leaf, which is rounded in its own format
        for side, total in zip(sides, (up, down), strict=True)
    ]
    low, high = max(exact - lost, -slack.most(down, up)), min(exact + lost, slack.most(up, down))
    scaled = how.mean in ("divided_terms", "scaled_terms") or (any(leaf_errors) and form is not terms.format)
    if len(parts) > 1 and len(formats) == 1 and not flushes and not scaled:
        # Of terms of one sign every node comes to as much as those below it, and some node has the greatest below it.
        outer = sum(_nearest(part, terms.format) for part in (max(parts), min(parts)))
        low, high = (low if down else max(low, outer)), (high if up else min(high, outer))
    ends = [_ended(each if isinstance(each, float) else form.rounded(each), how, form) for each in (low, high)]
    return SumInterval(min(ends[0]), max(ends[1]), (over[0], over[1]))


def _nearest(part: Fraction, form: Precision) -> Real:
    """Return what is left of a leaf at least, in magnitude, be it rounded or not; an infinity where it overflows."""
    found = form.rounded(part)
    return min(part, found, key=abs) if isinstance(found, Fraction) else found


class _Slack(NamedTuple):
    """How far leaves may be off in all, what is flushed at most, and by which factors a sum of one sign may be off."""

    leaves: Fraction
    flushed: Fraction
    least: Fraction
    greatest: Fraction | None

    def reach(self, side: Fraction) -> Fraction | float:
        """Return how far partial sums may go to the side on which the leaves come to so much: others only hold back."""
        if not side:
            return Fraction(0)
        return math.inf if self.greatest is None else (side + self.leaves + self.flushed) * self.greatest

    def most(self, side: Fraction, other: Fraction) -> Fraction | float:
        """Return how far the sum may go to one side: every leaf counts with a factor between the two."""
        if self.greatest is None:
            return math.inf
        far = (side + self.leaves + self.flushed) * self.greatest
        return far - max(other - self.leaves - self.flushed, Fraction(0)) * self.least


def _growth(rounding: Sequence[tuple[int, Precision]]) -> tuple[Fraction, Fraction | None]:
    """Return the least and the greatest factor by which so many roundings may change a number; ``None`` past counting.

    (1 - u) ** n is at least exp(-n * u / (1 - u)), and (1 + u) ** n at most exp(n * u).
    """
    units = [(count, float(form.unit)) for count, form in rounding]
    above, below = (sum(count * each / (1 - some * each) for count, each in units) for some in (0, 1))
    if above > _MOST_GROWTH:
        return Fraction(0), None
    return Fraction(math.exp(-below) * (1 - _ROUNDED)), Fraction(math.exp(above) * (1 + _ROUNDED))


def _leaves(terms: Column, how: ReductionArithmetic) -> list[Fraction]:
    scaled = terms.op == "premul_sum" or how.mean in ("divided_terms", "scaled_terms")
    return [Fraction(re) for re, _ in (terms.numbers if scaled else terms.parts)]


def _leaf_error(part: Fraction, terms: Column, how: ReductionArithmetic) -> Fraction:
    """Return how far a leaf may be from what it would be exactly."""
    tiny = terms.format.normal if any(how.flushes) and abs(part) < terms.format.normal else Fraction(0)
    if terms.op == "sum" or how.mean in ("division", "reciprocal"):
        return tiny
    if terms.op == "premul_sum":
        if any(how.flushes) and (abs(part) < abs(terms.scale) * terms.format.normal or terms.scales_by_subnormal):
            tiny = max(tiny, abs(part))  # nothing is left of a subnormal term, or of one times a subnormal factor
        if terms.format.holds(part):
            return tiny
    inverse = abs(part) * terms.format.unit if how.mean == "scaled_terms" else Fraction(0)
    return tiny + inverse + terms.format.quantum(abs(part) + inverse) / 2


def _ended(end: Fraction | float, how: ReductionArithmetic, form: Precision) -> list[Fraction | float]:
    """Return what becomes of the least, or the greatest, sum; NaN of a format without infinities is one."""
    total = np.array([_extended(end)]) if form is _EXTENDED else rounded_to(np.array([float(end)], FLOAT64), how.kept)
    side = math.inf if end > 0 else -math.inf
    return [side if isinstance(part, float) and math.isnan(part) else part for part, _ in parts_of(how.ended(total))]


def _extended(end: Fraction | float) -> np.longdouble:
    if isinstance(end, float):
        return np.longdouble(end)
    # Its exponent may be none of float64, so two parts near 1 are made of it.
    exponent = end.numerator.bit_length() - end.denominator.bit_length()
    part = end / Fraction(2) ** exponent
    high = float(part)
    near_one = np.longdouble(high) + np.longdouble(float(part - Fraction(high)))
    return np.longdouble(np.ldexp(near_one, exponent))


def _name(how: ReductionArithmetic, dtype: str) -> str:
    word = word_of(how.words, "accumulate")
    return dtype if word == "own" else word
