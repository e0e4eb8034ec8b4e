"""How many roundings of what magnitude a product of many factors is off by, in any order (``docs/numerics.md``).

Roundings of a product compound: of ``n`` factors, each within ``k * u`` of a magnitude ``m``, what any tree gives is
within ``(1 + u) ** (n - 1)`` times the product of all ``1 + k * u``, less one, of the product of all ``m``. This holds
whatever ``n`` is, but for what underflows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Folding = Callable[[Reals, str], Reals]
"""Folds what lies along the factors, one product apart from the other, by ``sum`` or ``product``."""

COMPLEX_PRODUCT: Final = 3.0
"""Roundings of its magnitude that a complex product is off by. They are at most the root of 5 (R. Brent, C. Percival
and P. Zimmermann, Error bounds on complex floating-point multiplication), and fewer where products and sums fuse."""

TWICE: Final = 1 / 16
"""What a rounding to a wider format first adds to a rounding, in parts of it: bfloat16 has five digits more than 8 bits
have."""


def product_bound(
    count: int, k: Reals, m: Reals, sizes: Reals, dtype: np.dtype[Any], folded: Folding
) -> tuple[Reals, Reals]:
    """Return ``k`` and ``m`` of products of ``count`` factors of magnitudes ``sizes``, of the ``k`` and ``m`` of these.

    Where a product of some factors may be subnormal, each product and each factor may lose as much as the least normal
    number, times at most what all factors greater than one come to. Where one may overflow, ``k`` is infinite.
    """
    form = ml_dtypes.finfo(dtype)
    u, steps, normal = 2.0 ** -(form.nmant + 1), max(count - 1, 0), float(form.smallest_normal)
    own, parts = (COMPLEX_PRODUCT, 4.0) if dtype.kind == "c" else (1.0, 1.0)
    with np.errstate(all="ignore"):
        rounding = steps * (np.log1p(own * u) + np.log1p(TWICE * u))
        # By their logarithms: some order of them may underflow on the way.
        product, off = np.exp2(folded(np.log2(m), "sum")), folded(np.log1p(k * u), "sum")
        most = folded(np.maximum(m * (1.0 + k * u), 1.0), "product") * np.exp(rounding)
        near = np.where(sizes > 0, np.maximum(sizes - 2.0 * k * u * m, 0.0), np.where(m > 0, 0.0, 1.0))
        least = folded(np.minimum(near, 1.0), "product") * np.exp(-rounding)
        vanishes = (least < normal) & (folded(np.where(m == 0, 1.0, 0.0), "sum") == 0) & (steps > 0)
        lost = np.where(vanishes, (2 * count - 1) * parts * normal * most * np.exp(2.0 * rounding), 0.0)
        scale = np.where(vanishes, np.maximum(product, normal), product)
        bound = np.where(scale > 0, (product * np.expm1(rounding + off) + lost) / (u * scale), 0.0)
        return np.where(most < float(form.max), bound, np.inf), scale
