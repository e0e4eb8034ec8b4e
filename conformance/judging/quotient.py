"""The division of a mean, the one elementary function of reductions, in units in the last place."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from conformance.cases.observation import Observation
from conformance.judging.admissible import elements
from conformance.judging.clause import Subject
from conformance.judging.column import Column, parts_of
from conformance.judging.compare import answered, differences

ULPS: Final = 2
"""Multiplying by the rounded inverse of the count is within 2: half a unit in the last place of the inverse is at most
one of the product, and rounding the product is half a one, or one of the binade below."""


def divided(subject: Subject, seen: Observation) -> str | None:
    """Demand of every finite mean that it is within ``ULPS`` of the quotient of a right sum and the count.

    Where the sum is order-free that is the exact one; elsewhere it is any within the bound, or of a wider accumulator.
    Nothing is said of a mean that is missing: ``reduction.C10``, a *should*, settles whether there is one.
    """
    if answered(subject, seen):
        return None
    for one in differences(subject, seen):
        for found in elements(subject, one):
            if found is None:
                return one.problem
            terms, value, classes = found
            if not classes and not _close(terms, parts_of(value)[0][0]):
                return f"{one.problem}; its distance from the quotient is more than {ULPS} units in the last place"
    return None


def _close(terms: Column, value: Fraction | float) -> bool:
    if not terms.finite:
        return True  # nothing is divided that has a last place
    if not isinstance(value, Fraction):
        return False
    ends = [Fraction(end) for end in terms.wide[0] if not math.isinf(end)]
    far = Fraction(0) if terms.order_free else terms.bound[0]
    low, high = min([terms.exact[0] - far, *ends]), max([terms.exact[0] + far, *ends])
    if terms.order_free:
        low = high = terms.exact[0]
    within = ULPS * max(terms.format.quantum(low), terms.format.quantum(high))
    return low - within <= value <= high + within
