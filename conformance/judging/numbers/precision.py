"""Binary float formats, and rounding to them that is exact: in integers, however wide the number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import NUMPY

Real = Fraction | float
"""A finite number, exactly, or an infinity or NaN."""


@dataclass(frozen=True)
class Precision:
    """A format with ``digits`` significant bits, and numbers from ``least`` (subnormal) to ``greatest``."""

    digits: int
    least: Fraction
    greatest: Fraction

    @cached_property
    def unit(self) -> Fraction:
        """Return the unit roundoff: the greatest relative error of rounding to nearest."""
        return Fraction(1, 2**self.digits)

    @cached_property
    def normal(self) -> Fraction:
        """Return the least normal number."""
        return self.least * Fraction(2 ** (self.digits - 1))

    def quantum(self, number: Fraction) -> Fraction:
        """Return the unit in the last place of ``number``: the distance of its neighbours, away from zero."""
        if abs(number) < self.normal:
            return self.least
        high = abs(number).numerator.bit_length() - number.denominator.bit_length()
        exponent = high if Fraction(2) ** high <= abs(number) else high - 1
        return Fraction(2) ** (exponent - self.digits + 1)

    def rounded(self, number: Real) -> Real:
        """Return ``number`` rounded to nearest, ties to even; past the greatest finite value an infinity."""
        if not isinstance(number, Fraction):
            return number
        quantum = self.quantum(number)
        found = round(number / quantum) * quantum
        return found if abs(found) <= self.greatest else (math.inf if number > 0 else -math.inf)

    def holds(self, number: Fraction) -> bool:
        """Return whether ``number`` is one of the format's."""
        size, below = abs(number.numerator), number.denominator
        if not size:
            return True
        low = size & -size
        return (
            below & (below - 1) == 0
            and (size // low).bit_length() <= self.digits
            and abs(number) <= self.greatest
            and Fraction(low, below) >= self.least
        )


@cache
def precision(dtype: str) -> Precision:
    """Return the format of a float dtype, or of the parts of a complex one."""
    name = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    info = ml_dtypes.finfo(NUMPY[name])
    return Precision(
        digits=info.nmant + 1,
        least=Fraction(float(info.smallest_subnormal)),
        greatest=Fraction(float(info.max)),
    )


def exactly(number: object) -> Real:
    """Return a float of any format as what it is: NaN as itself, everything finite exactly."""
    value = float(number)  # type: ignore[arg-type]  # of any format
    return Fraction(value) if math.isfinite(value) else value


def negative(number: object) -> bool:
    """Return whether the sign bit of a float is set, of a complex number that of its real part."""
    part = number.real if isinstance(number, complex | np.complexfloating) else number
    return math.copysign(1.0, float(part)) < 0  # type: ignore[arg-type]  # of any format
