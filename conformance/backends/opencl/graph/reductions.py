"""Which reductions there are, for which dtypes, and what they compute in and return."""

from __future__ import annotations

from typing import Final

import numpy as np
from ml_dtypes import finfo, iinfo

from conformance.backends.opencl.graph import rejections as no
from conformance.cases.tensor.dtypes import DTYPES, NUMPY, kind

COMBINES: Final = {
    "sum": "sum", "mean": "sum", "premul_sum": "sum", "product": "product",
    "max": "max", "min": "min", "and": "and", "or": "or", "xor": "xor",
}  # fmt: skip
"""Each reduction and the operation that combines two elements of it."""


FOLDS: Final = {"add": "sum", "mul": "product"}
"""The words used here for the folds of a graph that have others."""


def accumulator(dtype: str, op: str) -> str:
    """Return the dtype that a reduction computes in; raise a ``RejectionError`` where it has no meaning."""
    if op not in COMBINES:
        raise no.UnknownReductionError(f"reduction {op!r} is unknown; known are {', '.join(COMBINES)}")
    family = kind(dtype)
    if op in ("and", "or", "xor") and family not in ("bool", "integer"):
        raise no.ReductionUndefinedError(f"{op} of {dtype}: bitwise reductions are for bool and integers")
    if op in ("max", "min") and family == "complex":
        raise no.ReductionUndefinedError(f"{op} of {dtype}: complex numbers have no order")
    if op == "premul_sum" and family not in ("float", "complex"):
        raise no.ReductionUndefinedError(f"premul_sum of {dtype}: only floats and complex numbers are scaled")
    return "int32" if family == "bool" and COMBINES[op] in ("sum", "product") else dtype


def dividend(dtype: str) -> str:
    """Return the dtype that a mean is divided in: one that holds the count, as those of up to 16 bits may not."""
    narrow = kind(dtype) == "float" and NUMPY[dtype].itemsize <= 2
    return "float64" if narrow or kind(dtype) == "integer" else dtype


def of_nothing(dtype: str, op: str) -> int:
    """Return the bits of what a legal reduction of nothing gives, in the ``dtype`` of its result."""
    held = NUMPY[dtype]
    value = np.zeros((), held)
    if op == "mean":
        value = np.full((), complex("nan+nanj") if kind(dtype) == "complex" else np.nan, held)
    elif op == "and":
        value = np.bitwise_not(value)
    elif op == "product" or (op == "min" and dtype == "bool"):
        value = np.ones((), held)
    elif op in ("max", "min") and dtype != "bool":
        value = np.array((-np.inf if op == "max" else np.inf) if kind(dtype) == "float" else 0, held)
        if kind(dtype) == "integer" or np.isnan(value):
            info = iinfo(held) if kind(dtype) == "integer" else finfo(held)
            value = np.array(info.min if op == "max" else info.max, held)
    found = int.from_bytes(value.tobytes(), "little")
    return found & ((1 << DTYPES[dtype].bits) - 1) if DTYPES[dtype].bits < 8 else found


def result_dtype(dtype: str, op: str) -> str:
    """Return the dtype of a legal reduction's result: a mean of integers or bool is float64."""
    if op == "mean" and kind(dtype) in ("bool", "integer"):
        return "float64"
    return accumulator(dtype, op)
