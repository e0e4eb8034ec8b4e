"""Scaled terms that are added before they are rounded, and then rounded with the sum."""

from __future__ import annotations

import numpy as np

from conformance.cases.tensor.dtypes import Array
from conformance.judging.numbers.formats import rounded_to
from conformance.judging.numbers.model_operations import EXTENDED, FLOAT64, HAS_EXTENDED, ReductionArithmetic, inverse


def leaf(how: ReductionArithmetic, term: Array) -> Array:
    """Return a scaled term, rounded and exact: in float64, of float64 as a pair of longer numbers, a complex one."""
    number = np.array([how.factor], how.own) if how.op == "premul_sum" else inverse(how.count, how.own)
    rounded = how.leaf(term)
    with np.errstate(all="ignore"):
        if how.own != FLOAT64:
            return np.concatenate([rounded.astype(FLOAT64), term.astype(FLOAT64) * number.astype(FLOAT64)])
        exact = [_product(term.astype(EXTENDED), number.astype(EXTENDED))] if HAS_EXTENDED else []
        return np.concatenate([rounded.astype(np.clongdouble), *exact])


def join(how: ReductionArithmetic, left: Array, right: Array) -> Array:
    """Return the sums of pairs, rounded once, as ``leaf`` gives values; of two exact products one is rounded first."""
    with np.errstate(all="ignore"):
        sides = [(left, rounded_to(right.real, how.own)), (right, rounded_to(left.real, how.own))]
        ways = []
        for exact, other in sides:
            plain = other.astype(exact.real.dtype)
            high, lost = _two_sum(exact.real, plain)
            high, lost = _two_sum(high, lost + exact.imag) if exact.dtype.kind == "c" else (high, lost)
            found = rounded_to(_odd(high, lost), how.own)
            ways.append(how.after(found, np.sign(high.astype(FLOAT64)), exact.real, plain))
        return np.concatenate(ways).astype(left.dtype)


def total(how: ReductionArithmetic, values: Array) -> Array:
    """Return sums in the dtype of the terms."""
    return rounded_to(np.ascontiguousarray(values.real), how.own)


def _odd(found: Array, lost: Array) -> Array:
    """Return ``found`` + ``lost``, of which the first is rounded, rounded to an odd last bit.

    Rounded again to a format that has two bits less, it is as if it had been rounded once.
    """
    inexact = (lost != 0) & np.isfinite(found) & (found != 0)
    toward = np.where((lost > 0) == (found > 0), found, np.nextafter(found, np.zeros(1, found.dtype)))
    bits = np.ascontiguousarray(toward).view(np.uint64).copy()
    bits[:: 1 if found.dtype == FLOAT64 else 2] |= np.uint64(1)  # of the longer format, the first half of each number
    return np.where(inexact, bits.view(found.dtype), found)


def _product(one: Array, other: Array) -> Array:
    """Return exact products of float64 numbers: the rounded ones of 64 bits, and what is missing (Dekker)."""
    found = one * other
    (a, b), (c, d) = _halves(one), _halves(other)
    missing = ((a * c - found) + a * d + b * c) + b * d
    out = np.zeros(found.shape, np.clongdouble)
    out.real, out.imag = found, np.where(np.isfinite(missing), missing, 0)
    return out


def _halves(number: Array) -> tuple[Array, Array]:
    big = number * EXTENDED.type(2**32 + 1)
    high = big - (big - number)
    return high, number - high


def _two_sum(one: Array, other: Array) -> tuple[Array, Array]:
    """Return a sum, and what rounding it lost."""
    found = one + other
    back = found - one
    lost = (one - (found - back)) + (other - back)
    return found, np.where(np.isfinite(found), lost, 0)
