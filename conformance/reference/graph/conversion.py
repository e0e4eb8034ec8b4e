"""Conversion of values from one dtype to another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical
from conformance.reference.reductions import narrowed


def cast(values: Array, dtype: str) -> Array:
    """Return the values in another dtype, rounded to nearest; of a complex number a real dtype has the real part."""
    with np.errstate(all="ignore"):
        if np.iscomplexobj(values) and kind(dtype) not in ("complex", "bool"):
            values = values.real
        if values.dtype == NUMPY[dtype]:
            return values.copy()
        if kind(dtype) == "float" and NUMPY[dtype].itemsize <= 2 and kind(logical(values.dtype)) == "integer":
            # ml_dtypes goes by way of float32, which rounds too.
            return narrowed(_in_double(values), NUMPY[dtype])
        if values.dtype == np.float64 and kind(dtype) == "float" and NUMPY[dtype].itemsize <= 2:
            return narrowed(values, NUMPY[dtype])
        if kind(logical(values.dtype)) == "float" and values.dtype.itemsize == NUMPY[dtype].itemsize == 1:
            # ml_dtypes has no conversion between some formats of few bits; float64 holds all that any of them holds.
            return cast(values.astype(np.float64), dtype)
        if kind(dtype) == "integer" and kind(logical(values.dtype)) == "integer":
            # ml_dtypes has no conversion from some integers of few bits to others. Each has one to and from int64.
            return values.astype(np.uint64 if values.dtype == np.uint64 else np.int64).astype(NUMPY[dtype])
        return values.astype(NUMPY[dtype])


def _in_double(values: Array) -> NDArray[np.float64]:
    """Return integers as float64; of one with more digits the last kept bit is set where others are lost.

    Rounded to a float of few bits that gives what the integer itself would.
    """
    wide = values if values.dtype == np.uint64 else values.astype(np.int64)
    lost = wide.dtype.type(0x7FF)
    cut = (wide & ~lost) | np.where(wide & lost, lost + wide.dtype.type(1), wide.dtype.type(0))
    return np.where(np.abs(wide.astype(np.float64)) >= 2.0**53, cut, wide).astype(np.float64)
