"""Where the order of a fold shows: of columns of given terms, element by element of what they are folded to."""

from __future__ import annotations

import math
from collections.abc import Sequence

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from conformance.cases.tensor.dtypes import Array, kind, logical
from conformance.reference.exactness import inexact

Where = NDArray[np.bool_]

_SUMS = ("sum", "mean", "premul_sum")


def shows(values: Array, axes: Sequence[int], op: str, factor: float = 1.0) -> Where:
    """Return where the columns along ``axes``, which are gone from the result, may round in some order.

    An infinity among terms whose others cannot overflow to the other one decides a sum, whatever they round to, and one
    among factors whose others cannot vanish a product.
    """
    if kind(logical(values.dtype)) not in ("float", "complex") or not values.size:
        return np.zeros(_rest(values, axes), np.bool_)
    columns = _columns(values, axes)
    with np.errstate(all="ignore"):
        if columns.dtype.kind == "c":
            return np.asarray(
                inexact(columns, op, factor) | _recoverable(columns)
                if op == "product"
                else _parts_show(columns, op, factor)
            )
        if op in _SUMS:
            return _sum_shows(columns, op, factor)
        endless = np.isinf(columns)
        if op != "product" or not endless.any():
            return inexact(columns, op, factor)
        finite = np.where(endless, np.asarray(True, columns.dtype), columns)
        size = np.abs(finite.astype(np.float64))
        spread = np.abs(np.log2(np.where(size > 0, size, 1.0))).sum(axis=0)
        vanishes = spread >= math.log2(float(ml_dtypes.finfo(columns.dtype).max)) - 1
        nan = (np.isnan(columns) | (columns == 0)).any(axis=0)  # as of zero and an infinity, in any order
        return np.where(endless.any(axis=0), vanishes & ~nan, inexact(finite, op, factor))


def decided(values: Array, axes: Sequence[int], op: str) -> Where:
    """Return where a sum of real floats is infinite or NaN, whatever its finite terms are rounded to."""
    if kind(logical(values.dtype)) != "float" or op != "sum" or not values.size:
        return np.zeros(_rest(values, axes), np.bool_)
    columns = _columns(values, axes)
    with np.errstate(all="ignore"):
        return np.asarray(~np.isfinite(columns).all(axis=0) & (_total(columns) < _most(columns) / 2))


def _rest(values: Array, axes: Sequence[int]) -> tuple[int, ...]:
    return tuple(extent for axis, extent in enumerate(values.shape) if axis not in axes)


def _columns(values: Array, axes: Sequence[int]) -> Array:
    return np.moveaxis(values, axes, range(len(axes))).reshape(-1, *_rest(values, axes))


def _total(columns: Array) -> NDArray[np.float64]:
    """Return the sum of the magnitudes of finite terms."""
    sizes = np.abs(columns.astype(np.float64))
    return np.asarray(np.where(np.isfinite(sizes), sizes, 0.0).sum(axis=0))


def _against(columns: Array, factor: float) -> NDArray[np.float64]:
    """Return the magnitude of the finite terms, scaled, whose sign is not that of the infinity among them."""
    scaled = columns.astype(np.float64) * factor
    ends = [np.where(np.isinf(columns), scaled, 0.0) * sign for sign in (1.0, -1.0)]
    met = [(end == np.inf).any(axis=0) for end in ends]
    totals = [np.where(np.isfinite(columns), np.maximum(-sign * scaled, 0.0), 0.0).sum(axis=0) for sign in (1.0, -1.0)]
    # Where infinities of both signs meet, any order is NaN.
    return np.asarray(np.where(met[0] & met[1], 0.0, np.where(met[0], totals[0], totals[1])))


def _most(columns: Array) -> float:
    return float(ml_dtypes.finfo(columns.dtype).max)


def _sum_shows(columns: Array, op: str, factor: float) -> Where:
    """Return where a sum of real columns may round in some order, or overflow where an infinity decides it."""
    endless = np.isinf(columns).any(axis=0)
    if not endless.any():
        return inexact(columns, op, factor)
    # The factor is rounded to the dtype of the terms, by a quarter at most.
    scale = 2.0 * factor if op == "premul_sum" else 1.0
    overflows = ~(_against(columns, scale) <= _most(columns)) & ~np.isnan(columns).any(axis=0)
    return np.where(endless, overflows, inexact(columns, op, factor))


def _parts_show(columns: Array, op: str, factor: float) -> Where:
    """Return where complex columns may round in some order: of sums, part by part.

    Where the terms are scaled, by a number that may be taken to a complex one, a NaN in one part may be one in both.
    """
    if op == "sum":
        return np.asarray(_sum_shows(columns.real, op, factor) | _sum_shows(columns.imag, op, factor))
    known = columns.copy()
    known.real[np.isnan(columns.real)] = 0
    known.imag[np.isnan(columns.imag)] = 0
    return np.asarray(inexact(known, op, factor) | np.isnan(columns).any(axis=0))


def _recoverable(columns: Array) -> Where:
    """Return where a complex product with a NaN may overflow, so that C11 annex G makes infinities of the NaNs."""
    size = np.nansum([np.abs(part.astype(np.float64)) for part in (columns.real, columns.imag)], axis=0)
    spread = np.abs(np.log2(np.where(size > 0, size, 1.0))).sum(axis=0)
    far = spread >= math.log2(float(ml_dtypes.finfo(columns.real.dtype).max)) - 1
    return np.asarray(np.isnan(columns).any(axis=0) & far)
