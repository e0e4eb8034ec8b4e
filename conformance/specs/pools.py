"""The values that data is made of.

Reductions draw from *order-free* pools: over up to eight ranks every partial result, in any order and
with any association, is exactly representable, so any correct implementation gives the same bits.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np

from conformance.cases.dtypes import NUMPY, Array, kind

FLOAT_SUM: Final = (0.0, 1.0, -1.0, 2.0, -3.0, 4.0, 0.5, -0.25)
"""Multiples of 1/4 up to 4: eight of them need 8 significant bits, all that bfloat16 has."""

FLOAT_PRODUCT: Final = (1.0, 2.0, -1.0, 0.5, -2.0, 0.0)
"""Powers of two: eight of them stay within [2**-8, 2**8]; the sign of a zero product has one answer."""

WIDE: Final = {
    ("float32", "sum"): (65537.25, -65537.25),
    ("float64", "sum"): (2.0**33 + 0.25, -(2.0**33) - 0.25),
    ("float32", "product"): (3.0,),
    ("float64", "product"): (49.0,),
}
"""Values that a narrower format cannot hold or add up, so that reducing in one is seen: sums of eight need 22 bits
of float32's 24 and 39 of float64's 53, products of eight 13 and 45."""

FLOAT_ORDER: Final = (0.0, 1.0, -1.0, 2.0, -3.5, 1e30, -1e30, float("inf"), float("-inf"))
"""For max and min: no NaN and one zero only, whose ties have clauses of their own."""

INTEGER: Final = {
    "int32": (0, 1, -1, 2, -3, 2**31 - 1, -(2**31)),
    "uint8": (0, 1, 2, 3, 127, 128, 255),
}
"""Small values and both extremes: integers wrap, so any order gives the same bits."""


@cache
def pool(dtype: str, values: str) -> Array:
    """Return the values of ``dtype`` for a reduction's name, or for movement when ``values`` is ``any``."""
    numpy = NUMPY[dtype]
    family = kind(dtype)
    if family == "bool":
        return np.array([False, True])
    if family == "integer":
        return np.array(INTEGER[dtype], numpy)
    if values == "any":
        return np.concatenate([np.array(FLOAT_SUM, np.float64).astype(numpy), _special(numpy)])
    choices = {"sum": FLOAT_SUM, "product": FLOAT_PRODUCT}.get(values, FLOAT_ORDER)
    # Not last: ``counting`` takes the first seven.
    choices = (*choices[:4], *WIDE.get((dtype, values), ()), *choices[4:])
    return np.array(choices, np.float64).astype(numpy)


@cache
def counting(dtype: str, values: str) -> Array:
    """Return a longer pool in which neighbours differ, so that no misplaced element looks right."""
    numpy = NUMPY[dtype]
    if dtype == "bool":
        return np.array([True, False, False, True, True, True, False])
    if values in ("sum", "product"):
        return np.resize(pool(dtype, values), 7)
    return np.arange(1, 114).astype(numpy)


def _special(numpy: np.dtype[Any]) -> Array:
    """Return -0.0, the infinities, the least subnormal, the greatest finite value and two NaN payloads."""
    info = _bits(numpy)
    sign, exponent, mantissa = info
    patterns = [sign, exponent, sign | exponent, 1, exponent - 1, exponent | (mantissa >> 1) + 1, sign | exponent | 5]
    unsigned = np.dtype(f"u{numpy.itemsize}")
    return np.array(patterns, unsigned).view(numpy)


def _bits(numpy: np.dtype[Any]) -> tuple[int, int, int]:
    """Return the sign bit, the exponent mask and the mantissa mask of a binary float format."""
    width = 8 * numpy.itemsize
    one = int(np.ones(1, numpy).view(f"u{numpy.itemsize}")[0])
    mantissa = (one & -one) - 1
    return 1 << (width - 1), (1 << (width - 1)) - 1 - mantissa, mantissa
