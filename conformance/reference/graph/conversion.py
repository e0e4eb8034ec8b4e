"""Conversion of values from one dtype to another."""

from __future__ import annotations

import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.reference.reductions import narrowed


def cast(values: Array, dtype: str) -> Array:
    """Return the values in another dtype, rounded to nearest; a complex number keeps its real part."""
    with np.errstate(all="ignore"):
        if np.iscomplexobj(values) and "complex" not in dtype:
            values = values.real
        if values.dtype == np.float64 and kind(dtype) == "float" and NUMPY[dtype].itemsize <= 2:
            return narrowed(values, NUMPY[dtype])
        return values.astype(NUMPY[dtype])
