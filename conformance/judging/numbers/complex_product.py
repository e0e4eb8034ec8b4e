"""What one multiplication of complex numbers comes to where a part is infinite, NaN or past the greatest number.

The formula is ``(ac - bd) + (ad + bc)i``. C11 Annex G replaces what it makes where both parts are NaN though a factor,
or a product of two parts, is infinite; its code (G.5.1) says by what. A product of parts that is fused with the sum
after it does not overflow on its own.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from conformance.cases.tensor.dtypes import Array
from conformance.reference.reductions import times

_DOWN: Final = {4: 65, 8: 514}
"""By bytes of a part: the power of two that both factors are divided by, so that no product of theirs overflows."""

Parts = NDArray[np.floating]


def products(left: Array, right: Array) -> Array:
    """Return what right implementations make of the products of two arrays of shape (n,), each n results in a row."""
    with np.errstate(all="ignore"):
        plain = times(left, right)
        if np.isfinite(plain).all():
            return plain
        a, b, c, d = left.real, left.imag, right.real, right.imag
        ways = [
            _joined(real, imaginary)
            for real in (a * c - b * d, _fused(a, c, -(b * d)), _fused(-b, d, a * c))
            for imaginary in (a * d + b * c, _fused(a, d, b * c), _fused(b, c, a * d))
        ]
        return np.concatenate([*ways, *(_recovered(left, right, way) for way in ways)])


def _fused(one: Parts, other: Parts, added: Parts) -> Parts:
    """Return the sum of a product and a number; a product of numbers that is too great for a part is not rounded."""
    down = _DOWN[one.itemsize]
    scaled = np.ldexp(one, -down) * np.ldexp(other, -down) + np.ldexp(added, -2 * down)
    overflows = np.isfinite(one) & np.isfinite(other) & np.isinf(one * other)
    return np.where(overflows, np.ldexp(scaled, 2 * down), one * other + added)


def _recovered(left: Array, right: Array, found: Array) -> Array:
    """Return ``found`` with the infinities that Annex G makes of a NaN in both parts."""
    a, b, c, d = (part.copy() for part in (left.real, left.imag, right.real, right.imag))
    overflows = np.isinf(a * c) | np.isinf(b * d) | np.isinf(a * d) | np.isinf(b * c)
    infinite = [np.isinf(a) | np.isinf(b), np.isinf(c) | np.isinf(d)]
    for which, mine, others in ((infinite[0], (a, b), (c, d)), (infinite[1], (c, d), (a, b))):
        for part in mine:
            part[which] = np.copysign(np.isinf(part[which]).astype(part.dtype), part[which])
        for part in others:
            _without_nan(part, which)
    for part in (a, b, c, d):
        _without_nan(part, overflows & ~infinite[0] & ~infinite[1])
    changed = np.isnan(found.real) & np.isnan(found.imag) & (infinite[0] | infinite[1] | overflows)
    again = _joined(np.inf * (a * c - b * d), np.inf * (a * d + b * c)).astype(found.dtype)
    return np.where(changed, again, found)


def _without_nan(part: Parts, which: NDArray[np.bool_]) -> None:
    gone = which & np.isnan(part)
    part[gone] = np.copysign(0.0, part[gone])


def _joined(real: Parts, imaginary: Parts) -> Array:
    out = np.empty(real.shape, np.dtype(f"c{2 * real.itemsize}"))
    out.real, out.imag = real, imaginary
    return out
