"""The values that data is made of.

Reductions draw from *order-free* pools: over up to eight ranks every partial result, in any order and
with any association, is exactly representable, so any correct implementation gives the same bits.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import DTYPES, NUMPY, RARE, Array, kind
from conformance.generate.calls.decisive_values import Family, Values, sensitive

SUM: Final = {
    "float8_e5m2": (0.0, 1.0, -1.0),
    "float8_e4m3fn": (0.0, 1.0, -1.0, 2.0, -2.0),
    "": (0.0, 1.0, -1.0, 2.0, -3.0, 4.0, 0.5, -0.25),
}
"""Eight of them fit the significant bits: 3 in float8_e5m2, 4 in float8_e4m3fn, 8 (the fewest other) in bfloat16."""

SCALED: Final = {
    "float8_e5m2": (0.0, 2.0, -2.0),
    "float8_e4m3fn": (0.0, 2.0, -2.0, 4.0),
    "": (0.0, 2.0, -2.0, 4.0, 8.0),
}
"""For premul_sum, whose factors are 1/2, 1 and 2: still exact after either."""

PRODUCT: Final = (1.0, 2.0, -1.0, 0.5, -2.0, 0.0)
"""Powers of two: eight of them stay within [2**-8, 2**8]; the sign of a zero product has one answer."""

WIDE: Final = {
    ("float32", "sum"): (65537.25, -65537.25),
    ("float64", "sum"): (2.0**33 + 0.25, -(2.0**33) - 0.25),
    ("float32", "product"): (3.0,),
    ("float64", "product"): (49.0,),
}
"""Values that a narrower format cannot hold or add up, so that reducing in one is seen: sums of eight need 22 bits
of float32's 24 and 39 of float64's 53, products of eight 13 and 45."""

COMPLEX_PRODUCT: Final = (1 + 0j, 2 + 0j, 1 + 2j, 0.5 + 0j, 1 - 2j)
"""Any product of these is real and positive or has no part that is zero, so no order can change the sign of a zero."""

ORDER: Final = (0.0, 1.0, -1.0, 2.0, -3.5)
"""For max and min, with the greatest and least finite values and the infinities; one zero only."""


FEW: Final = {"local": (1.0, -1.0), "max_zeros": (0.0, -0.0, -1.0), "min_zeros": (0.0, -0.0, 1.0)}
"""For sums and products of many values, and for max and min that come to a zero."""


@cache
def pool(dtype: str, values: Values) -> Array:
    """Return the values of ``dtype`` for a reduction's name, or for movement when ``values`` is ``any``.

    ``local`` is for sums and products of up to 200 values, ``with_nan``, ``max_zeros`` and ``min_zeros`` are for max
    and min.
    """
    numpy = NUMPY[dtype]
    family = kind(dtype)
    if dtype in RARE:
        return _rare(dtype, values)
    if isinstance(values, Family):
        return sensitive(dtype, values)
    if family == "bool":
        return np.array([False, True])
    if family == "integer":
        info = ml_dtypes.iinfo(numpy)
        small = [0, 1, 2, 3, *([-1, -3] if info.min < 0 else [])]
        return np.array([*small, int(info.max), int(info.min), int(info.max) // 2 + 1], np.object_).astype(numpy)
    return _inexact(dtype, values)


def _rare(dtype: str, values: Values) -> Array:
    """Return every value of a rare dtype, neighbours apart; for max and min of floats the numbers with one zero."""
    numpy = NUMPY[dtype]
    every = np.arange(1 << DTYPES[dtype].bits)
    found = (every * 5 % len(every)).astype(np.uint8).view(numpy)
    if kind(dtype) == "float" and values != "any":
        wide = found.astype(np.float64)
        found = found[np.isfinite(wide) & ~((wide == 0) & np.signbit(wide))]
    return found


def _inexact(dtype: str, values: str) -> Array:
    """Return the values of a float or complex dtype."""
    numpy, family = NUMPY[dtype], kind(dtype)
    if values == "any":
        return np.concatenate([_cast(SUM.get(dtype, SUM[""]), numpy), _special(numpy)])
    if values in FEW:
        return _cast(FEW[values], numpy)
    if values in ("max", "min", "with_nan"):
        return _order(numpy) if values != "with_nan" else np.concatenate([_order(numpy)[:4], _cast((np.nan,), numpy)])
    if values == "product" and family == "complex":
        return np.array(COMPLEX_PRODUCT, numpy)
    # Not last: ``counting`` takes the first seven.
    wide = WIDE.get((dtype, values), ())
    if values == "product":
        return _cast((*PRODUCT[:4], *wide, *PRODUCT[4:]), numpy)
    table = SCALED if values == "premul_sum" else SUM
    choices = table.get(dtype, table[""])
    real = _cast((*choices[:4], *wide, *choices[4:]), numpy)
    return (
        np.concatenate([real, [complex(0.0, part.real) for part in real]]).astype(numpy)
        if family == "complex"
        else real
    )


@cache
def counting(dtype: str, values: Values) -> Array:
    """Return a longer pool in which neighbours differ, so that no misplaced element looks right."""
    numpy = NUMPY[dtype]
    if dtype == "bool":
        return np.array([True, False, False, True, True, True, False])
    if dtype in RARE:
        return _rare(dtype, values)[:113]
    if values not in ("any", "max", "min"):
        return np.resize(pool(dtype, values), 7)
    most = 7 if "int4" in dtype else 14 if "float8" in dtype else 113
    return np.arange(1, most + 1).astype(np.float64).astype(numpy)


@cache
def regime_of(dtype: str, regime: str) -> Array:
    """Return the values of one of the dangerous regimes, for movement, among plain ones that tell places apart.

    Those of the regimes before it come after its own, so that one block shows them all. A dtype without such values has
    the greatest and the least it holds; bools are bools.
    """
    numpy = NUMPY[dtype]
    if kind(dtype) == "bool" or dtype in RARE:
        return counting(dtype, "any")
    if kind(dtype) == "integer":
        info = ml_dtypes.iinfo(numpy)
        ends = [int(info.max), 1, int(info.min), int(info.max) - 1, 2, int(info.max) // 2 + 1]
        return np.array(ends, np.object_).astype(numpy)
    if numpy.kind == "c":
        real = regime_of(f"float{4 * numpy.itemsize}", regime)
        return np.ascontiguousarray(np.stack([real, np.roll(real, 1)], axis=1)).view(numpy).reshape(-1)
    sign, exponent, mantissa = _bits(numpy)
    quiet = exponent | (mantissa >> 1) + 1
    patterns = {
        "negative_zero": [sign, 0, sign],
        "extreme": [exponent - 1, sign | exponent - 1, exponent - 2],
        "subnormal": [1, mantissa, sign | 1, sign | mantissa, mantissa >> 1],
        "infinite": [exponent, sign | exponent],
        "nan": [exponent | 1, quiet, sign | exponent | mantissa - 1, quiet | 1],
    }
    before = [pattern for name in list(patterns)[: list(patterns).index(regime)] for pattern in patterns[name]]
    special = np.array([*patterns[regime], *before], f"u{numpy.itemsize}").view(numpy)
    # A format without infinities has other numbers, or NaN, where those of IEEE 754 have them.
    return np.concatenate([special[:1], counting(dtype, "any")[:2], special[1:], counting(dtype, "any")[2:3]])


def _cast(values: tuple[float, ...], numpy: np.dtype[Any]) -> Array:
    return np.array(values, np.float64).astype(numpy)


def _order(numpy: np.dtype[Any]) -> Array:
    if numpy.kind == "c":
        return _cast(ORDER, numpy)
    greatest = float(ml_dtypes.finfo(numpy).max)
    infinite = [float("inf"), float("-inf")] if np.isinf(np.array(float("inf")).astype(numpy)) else []
    return _cast((*ORDER, greatest, -greatest, *infinite), numpy)


def _special(numpy: np.dtype[Any]) -> Array:
    """Return -0.0, the infinities, the least subnormal, the greatest finite value and two NaN payloads.

    The patterns are those of IEEE formats; in a format without infinities some of them are finite or NaN.
    A complex number is made of two such patterns.
    """
    real = np.dtype(f"f{numpy.itemsize // 2}") if numpy.kind == "c" else numpy
    sign, exponent, mantissa = _bits(real)
    patterns = [
        sign,
        exponent,
        sign | exponent,
        1,
        exponent - 1,
        exponent | (mantissa >> 1) + 1,
        sign | exponent | mantissa - 1,
    ]
    floats = np.array(patterns, f"u{real.itemsize}").view(real)
    return np.concatenate([floats, floats[::-1]]).view(numpy) if numpy.kind == "c" else floats


def _bits(numpy: np.dtype[Any]) -> tuple[int, int, int]:
    """Return the sign bit, the exponent mask and the mantissa mask of a binary float format."""
    width = 8 * numpy.itemsize
    one = int(np.ones(1, numpy).view(f"u{numpy.itemsize}")[0])
    mantissa = (one & -one) - 1
    return 1 << (width - 1), (1 << (width - 1)) - 1 - mantissa, mantissa
