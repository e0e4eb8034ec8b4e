"""Which sums, differences, products and quotients of floats are exact, element by element."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from conformance.cases.tensor.dtypes import Array

Where = NDArray[np.bool_]


def real_rounds(op: str, of: Sequence[Array], made: Array) -> Where:
    """Return where a sum, a difference, a product or a quotient of finite floats is not exactly ``made``.

    The error of a sum is that of Knuth's two-sum, of a product that of Dekker's; where they overflow nothing is exact.
    A quotient by an infinity is a zero, and exact.
    """
    left, right = (np.asarray(value, np.float64) for value in (of[0], of[-1]))
    found = np.asarray(made, np.float64)
    if op in ("div", "recip"):
        if op == "recip":
            left = np.ones_like(right)
        return np.asarray(np.isfinite(found) & ~np.isinf(right) & (_product_error(found, right, left) != 0))
    if op == "mul":
        error = _product_error(left, right, found)
    else:
        right = -right if op == "sub" else right
        total = left + right
        other = total - left
        error = ((left - (total - other)) + (right - other)) + (total - found)
    finite = np.isfinite(left) & np.isfinite(right)
    return np.asarray(finite & ((error != 0) | ~np.isfinite(error)))


def _product_error(left: Array, right: Array, found: Array) -> Array:
    """Return by how much a product of floats differs from ``found``; it is exact where nothing overflows."""
    product = left * right
    halves = []
    for value in (left, right):
        scaled = value * (2.0**27 + 1)
        high = scaled - (scaled - value)
        halves.append((high, value - high))
    (a, b), (c, d) = halves
    lost = ((a * c - product) + a * d + b * c) + b * d
    tiny = (np.abs(product) < 2.0**-960) & (left != 0) & (right != 0)
    return np.asarray(np.where(tiny, 1.0, (product - found) + lost))
