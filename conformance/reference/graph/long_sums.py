"""How far long sums may be from the exact one, by any tree, in any accumulator that is no narrower than the dtype.

Bounds of first order end where ``n * u`` comes near one, though the error of a sum of ``n`` given floats is at most
``(n - 1) * u`` times the sum of their magnitudes whatever ``n`` is (C.-P. Jeannerod and S. M. Rump, Improved error
bounds for inner products in floating-point arithmetic, 2013). That is proved for one format. Here each node of a tree
is bounded by itself, so that some nodes may be wider than others: the i-th largest of the ``n - 1`` nodes has at most
``n - i + 1`` terms below it, and rounds by at most half a unit in the last place of what these come to
(``docs/numerics.md``). A node whose terms are multiples of a number of which it is few enough rounds nothing. Where
terms have bits below the least normal number a node may also be flushed.
"""

from __future__ import annotations

from typing import Final

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import Array, logical
from conformance.reference.exactness import unit
from conformance.reference.graph.bounds import Reals, magnitudes, unit_roundoff

MOST_TERMS: Final = 1 << 22
"""Terms of all sums together up to which this is done: some 100 passes over them in float64."""


def long_sums(terms: Array, axes: tuple[int, ...]) -> tuple[Reals, Reals] | None:
    """Return the least and the greatest that any order may come to, for sums of given real floats along some axes.

    ``None`` where the terms are too many. Infinite ends are those of sums of which a partial one may leave the format.
    """
    if terms.dtype.kind == "c" or terms.size > MOST_TERMS:
        return None
    rest = [axis for axis in range(terms.ndim) if axis not in axes]
    shape = [terms.shape[axis] for axis in rest]
    with np.errstate(all="ignore"):
        values = terms.transpose((*axes, *rest)).astype(np.float64).reshape((-1, *shape))
        info, u = ml_dtypes.finfo(terms.dtype), unit_roundoff(logical(terms.dtype))
        least = float(info.smallest_subnormal)
        grid = np.asarray(unit(magnitudes(values))).min(axis=0) if len(values) else np.full(shape, least)
        sides = [np.cumsum(-np.sort(-np.maximum(side * values, 0.0), axis=0), axis=0) for side in (1.0, -1.0)]
        lost = np.zeros(shape)
        flushed = np.where(grid < float(info.smallest_normal), float(info.smallest_normal), 0.0)
        for size in range(2, len(values) + 1):
            most = np.maximum(sides[0][size - 1], sides[1][size - 1]) + lost
            exact = most <= grid / u
            # Half a unit in the last place of the greatest that such a node may come to.
            half = np.maximum(u * 2.0 ** np.floor(np.log2(np.maximum(most, least))), least / 2)
            lost = lost + np.where(exact, 0.0, half) + flushed
        total = values.sum(axis=0)
        # What a wider accumulator has is rounded to the dtype at the end.
        lost = lost + np.where(lost > 0, u * (np.abs(total) + lost), 0.0)
        # What float64 loses itself, of sums of as many terms.
        lost = lost + len(values) * 2.0**-52 * magnitudes(values).sum(axis=0)
        leaves = np.maximum(sides[0][-1], sides[1][-1]) + lost >= float(info.max) if len(values) else lost > 0
        return np.where(leaves, -np.inf, total - lost), np.where(leaves, np.inf, total + lost)
