"""Which reductions are exact in every order."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical
from conformance.reference.reductions import ORDER


def inexact(columns: Array, op: str, factor: Any = 1.0) -> Array:
    """Return, for columns of shape (members, elements), in which of them some partial result may be inexact.

    This is asked of every reduction, so it is quick and errs on one side; ``judging.column`` decides it. The parts of
    the members of a column are multiples of a power of two each. All partial sums are multiples of the least of these,
    all partial products of their product; what no partial result exceeds is the sum, or the product, of the magnitudes.
    Where both fit the significant bits of the dtype, and the range, every order gives one result. Of max and min the
    order shows where both zeros meet.
    """
    dtype = columns.dtype
    if op in ORDER:
        signs = np.signbit(columns) if kind(logical(dtype)) == "float" else np.zeros(columns.shape, bool)
        zeros = columns == 0
        return np.asarray((zeros & signs).any(axis=0) & (zeros & ~signs).any(axis=0))
    with np.errstate(all="ignore"):
        if op == "premul_sum":
            columns = np.asarray(np.multiply(columns, np.array(factor, dtype)), dtype)
        parts = [np.abs(part.astype(np.float64)) for part in (columns.real, columns.imag)[: 1 + (dtype.kind == "c")]]
        grid = np.minimum.reduce([unit(part) for part in parts])
        most = np.add.reduce(parts)
        info = ml_dtypes.finfo(parts_of(dtype))
        if op == "product":
            units = np.where(np.isinf(grid), 1.0, most / grid).prod(axis=0)
            spread = np.abs(np.log2(np.where(most > 0, most, 1.0))).sum(axis=0)
            return np.asarray((units > 2.0 ** (info.nmant + 1)) | (spread >= math.log2(float(info.max)) - 1))
        total, least = most.sum(axis=0), grid.min(axis=0)
        return np.asarray((total / least > 2.0 ** (info.nmant + 1)) | (total > float(info.max)))


def parts_of(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the parts of a number: its own unless it is complex."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else NUMPY[dtype.name]


def unit(magnitudes: Array) -> Array:
    """Return the greatest power of two that each is a multiple of; infinity for zero and for what is not finite."""
    mantissa, exponent = np.frexp(np.where(np.isfinite(magnitudes), magnitudes, 0.0))
    whole = (mantissa * 2.0**53).astype(np.int64)
    unit = np.ldexp((whole & -whole).astype(np.float64), exponent - 53)
    return np.where(whole == 0, np.inf, unit)
