"""What accumulators come to that are no format: exact ones, rounded once, and sums that are compensated."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from conformance.cases.declarations.number_model import Words, word_of
from conformance.cases.tensor.dtypes import Array
from conformance.judging.numbers.column import Column, parts_of
from conformance.judging.numbers.formats import rounded_to
from conformance.judging.numbers.model_operations import ReductionArithmetic
from conformance.judging.numbers.precision import Real


def beyond(terms: Column, how: ReductionArithmetic) -> Array:
    """Return what finite real terms come to where nothing but the total is rounded, in the dtype of the terms.

    Scaled terms may be rounded before they are added, and a sum before it is divided; what the number model flushes or
    saturates is so at the end.
    """
    totals = [terms.exact[0], *_of_leaves(terms, how)]
    found = _rounded(terms, totals)
    if how.mean in ("division", "reciprocal"):
        with np.errstate(all="ignore"):
            sums = _rounded(terms, [sum((re for re, _ in terms.added), start=Fraction(0))])
            found = np.concatenate([found, how.ended(sums)])
    with np.errstate(all="ignore"):
        return how.after(found, np.sign(found.astype(np.float64)))


def compensated(terms: Column, value: Array, words: Words) -> bool:
    """Return whether a sum that carries what its additions round off may come to the value.

    Such a sum is off by ``2u + O((nu)**2)`` of the sum of the magnitudes at most (N. J. Higham, Accuracy and Stability
    of Numerical Algorithms, section 4.3), and never by more than a plain one.
    """
    part = parts_of(value)[0][0]
    if word_of(words, "accumulate") != "compensated" or terms.op == "product" or not isinstance(part, Fraction):
        return False
    unit, count, size = terms.format.unit, len(terms.terms), terms.magnitude[0]
    scaling = 2 * unit * size if terms.op != "sum" else Fraction(0)
    second = min((2 * count * unit) ** 2, count * unit) * size
    lost = (count + 1) * terms.format.least
    return abs(part - terms.exact[0]) <= min(2 * unit * size + second + scaling + lost, terms.bound[0] + lost)


def _of_leaves(terms: Column, how: ReductionArithmetic) -> list[Fraction]:
    """Return the exact sums of terms that were scaled and rounded, one for each way to do so."""
    if terms.op == "product" or (terms.op == "mean" and how.mean in ("division", "reciprocal")):
        return []
    with np.errstate(all="ignore"):
        each = [how.leaf(terms.terms[at : at + 1]) for at in range(len(terms.terms))]
    ways = min(len(one) for one in each)
    columns = [[float(one[way]) for one in each] for way in range(ways)]
    return [sum(map(Fraction, column), start=Fraction(0)) for column in columns if all(map(math.isfinite, column))]


def _rounded(terms: Column, totals: list[Fraction]) -> Array:
    """Return totals rounded once to the format of the terms; past its greatest number as it says."""
    numbers: list[Real] = [terms.format.rounded(total) for total in totals]
    signs = [total < 0 or (total == 0 and terms.op == "product" and terms.negative) for total in totals]
    with np.errstate(all="ignore"):
        wide = np.array(
            [math.copysign(float(n), -1.0 if minus else 1.0) for n, minus in zip(numbers, signs, strict=True)]
        )
        return rounded_to(wide, terms.terms.dtype)
