"""Values of one float format in another, and the ends of a format."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from conformance.cases.tensor.dtypes import Array
from conformance.reference.reductions import narrowed


def rounded_to(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return the values of a float format rounded once to another, to nearest, ties to even."""
    if values.dtype == dtype:
        return values
    with np.errstate(all="ignore"):
        if values.dtype.itemsize >= 8 and dtype.itemsize <= 2:
            return narrowed(values.astype(np.float64), dtype)
        return np.asarray(values.astype(dtype))


def tiny(dtype: np.dtype[Any]) -> Any:
    """Return the least normal number of a format, or of the parts of a complex one."""
    return _info(dtype).smallest_normal


def greatest(dtype: np.dtype[Any]) -> Any:
    """Return the greatest finite number of a format."""
    return _info(dtype).max


def subnormal(values: Array) -> NDArray[np.bool_]:
    """Return which real values are subnormal."""
    with np.errstate(all="ignore"):
        return np.asarray((values != 0) & (np.abs(values) < tiny(values.dtype)))


def flushed(values: Array) -> Array:
    """Return the values with zeros of the same sign for those that are subnormal, in each part of complex ones."""
    parts = values.view(values.real.dtype) if values.dtype.kind == "c" else values
    small = subnormal(parts)
    if not small.any():
        return values
    return np.where(small, np.copysign(np.zeros(1, parts.dtype), parts), parts).astype(parts.dtype).view(values.dtype)


def _info(dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "c":
        dtype = np.dtype(f"f{dtype.itemsize // 2}")
    return np.finfo(dtype) if dtype == np.longdouble else ml_dtypes.finfo(dtype)
