"""Values of every class that implementations treat apart, dtype by dtype, and blocks in which all of them meet."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Final

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.judging.numbers.precision import precision

PRECISIONS: Final = (3, 4, 8, 11, 24, 53)
"""Digits of float dtypes, the leading one counted: a conversion rounds at one of them."""


def classes(dtype: str) -> Array:
    """Return values of a dtype, an odd number of them: zeros, ones, extremes, and what tells operations apart.

    Of integers both sides of the sign bit, and patterns in which ``and``, ``or``, ``xor`` and ``add`` differ; of floats
    signs, what is no number and what is not normal.
    """
    family, numpy = kind(dtype), NUMPY[dtype]
    if family == "bool":
        return np.array([True, False, True])
    if family == "integer":
        info = ml_dtypes.iinfo(numpy)
        least, greatest = int(info.min), int(info.max)
        half = (greatest - least) // 2 + 1
        # Of unsigned numbers the sign bit; of signed ones the greatest two on both sides of zero.
        ends = [half, half + 1, half - 1] if least == 0 else [-1, -2, least + 1]
        listed = [0, 1, 2, 3, least, greatest, greatest - 1, *ends, greatest // 3, greatest // 5 * 3]
        found = np.array(list(dict.fromkeys(listed)), np.object_)
    else:
        form = precision(dtype)
        unit, normal, most = (float(each) for each in (form.unit, form.normal, form.greatest))
        beyond = [most, -most, float("inf"), float("-inf"), float("nan")]
        found = np.array([0.0, -0.0, 1.0, -1.0, -2.5, 1 + 2 * unit, 1 / 3, normal, float(form.least), *beyond])
    return _odd(_as(found, dtype))


def met(values: Array, shape: tuple[int, ...], rank: int) -> Array:
    """Return the block of a rank: of two ranks every two values meet, where the block has as many elements as pairs.

    The number of values has to be odd, that the first and the third rank meet so too.
    """
    at, many = np.arange(prod(shape)), len(values)
    return np.asarray(values[(at % many + rank * (at // many)) % many].reshape(shape))


def convertible(dtype: str) -> Array:
    """Return values of a dtype that tell rounding from truncation in what they are converted to, and ties apart.

    Beyond the digits of each float dtype there are less than half of the last one, a half with an even and with an odd
    one before, and more than a half; below one there are halves and what is next to them.
    """
    family, numpy = kind(dtype), NUMPY[dtype]
    if family == "bool":
        return np.array([True, False])
    listed: list[float | int] = [0, 1, 2, 3, 5, 7, 100]
    if family == "integer":
        info = ml_dtypes.iinfo(numpy)
        for digits in PRECISIONS:
            whole = 2 ** (digits + 2)
            listed += [whole + 1, whole + 2, whole + 3, whole + 6, 2 * whole - 1]
        listed += [-each for each in listed] + [int(info.max), int(info.min)]
        whole_numbers = [each for each in dict.fromkeys(listed) if info.min <= each <= info.max]
        return _as(np.array(whole_numbers, np.object_), dtype)
    for digits in PRECISIONS:
        last = float(Fraction(1, 2 ** (digits - 1)))
        listed += [1 + last / 4, 1 + last / 2, 1 + last * 3 / 2, 1 + last * 3 / 4, 1 + last * 5 / 8]
    listed += [
        0.5,
        0.75,
        0.9990234375,
        1.5,
        2.5,
        3.5,
        0.0009765625,
        1.2e-7,
        1e-40,
        448.0,
        464.0,
        57344.0,
        65519.0,
        3e38,
    ]
    signed = [*listed, *(-each for each in listed), float("nan"), float("inf"), float("-inf")]
    return _distinct(_as(np.array(signed, np.float64), dtype))


def _as(values: Array, dtype: str) -> Array:
    numpy = NUMPY[dtype]
    with np.errstate(all="ignore"):
        if kind(dtype) != "complex":
            return np.asarray(values.astype(numpy))
        real = values.astype(f"f{numpy.itemsize // 2}")
        both = np.empty(len(real), numpy)
        both.real, both.imag = real, np.roll(real, 3)
        return both


def _distinct(values: Array) -> Array:
    """Return values without those that have the same bits as one before."""
    seen = {value.tobytes(): at for at, value in reversed(list(enumerate(values)))}
    return values[sorted(seen.values())]


def _odd(values: Array) -> Array:
    """Return distinct values, an odd number of them."""
    found = _distinct(values)
    return found if len(found) % 2 else np.concatenate([found, found[2:3]])
