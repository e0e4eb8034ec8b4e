"""Elementwise operations and folds on arrays of any dtype, as graphs and kernel bodies name them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import Array, cleared, kind, logical

FOLDS: Final[dict[str, np.ufunc]] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def apply(op: str, values: Sequence[Array]) -> Array:
    """Return an elementwise operation on arrays of one dtype, rounded to it; comparisons give bool."""
    with np.errstate(all="ignore"):
        found = FUNCTIONS[op](*values)
    dtype = np.dtype(np.bool_) if op in {"lt", "ne", "eq"} else values[-1].dtype
    # ml_dtypes leaves copies of the sign beside what it negates.
    return cleared(np.asarray(found, dtype))


def fold(op: str, values: Array, axes: Sequence[int]) -> Array:
    """Return ``values`` combined from the left along ``axes``, in row-major order; the axes are gone.

    Over no element at all that is the identity of the operation.
    """
    rest = [axis for axis in range(values.ndim) if axis not in axes]
    front = np.transpose(values, [*sorted(axes), *rest])
    kept = tuple(values.shape[axis] for axis in rest)
    count = int(np.prod([values.shape[axis] for axis in axes], dtype=np.int64))
    if count == 0:
        return np.full(kept, identity(op, values.dtype), values.dtype)
    front = front.reshape(count, *kept)
    with np.errstate(all="ignore"):
        # Unlike reduce, accumulate adds one after the other, and rounds each sum.
        return np.asarray(FOLDS[op].accumulate(front, axis=0)[-1], values.dtype)


def identity(op: str, dtype: np.dtype[Any]) -> Any:
    """Return the identity of a fold: 0 for add, or and xor, 1 for mul, all bits set for and.

    For max it is the least value of the dtype, for min the greatest, infinities included.
    """
    name = kind(logical(dtype))
    if op in {"max", "min"} and name != "bool":
        if name == "float":
            info = ml_dtypes.finfo(dtype)
            # A dtype without infinities (float8_e4m3fn) has its greatest finite value instead.
            bound = np.asarray(-np.inf if op == "max" else np.inf, np.float32).astype(dtype)
            return bound if not np.isnan(bound.astype(np.float32)) else (info.min if op == "max" else info.max)
        limits = ml_dtypes.iinfo(dtype)
        return np.asarray(limits.min if op == "max" else limits.max, dtype)
    if op == "and":
        return np.bitwise_not(np.zeros((), dtype))
    return np.asarray(op in {"mul", "min"}, dtype)


def _divide(left: Array, right: Array) -> Array:
    if kind(logical(left.dtype)) != "integer":
        return np.asarray(np.divide(left, right))
    right = np.where(right == 0, np.ones((), right.dtype), right)
    quotient = np.floor_divide(left, right)
    uneven = np.not_equal(left, quotient * right)
    return np.asarray(quotient + (uneven & (np.less(left, 0) != np.less(right, 0))).astype(left.dtype))


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **FOLDS,
    "neg": np.negative,
    "not": np.bitwise_not,
    "abs": np.abs,
    "recip": lambda value: np.divide(np.ones((), value.dtype), value),
    "sqrt": np.sqrt,
    "exp2": np.exp2,
    "log2": np.log2,
    "sin": np.sin,
    "trunc": np.trunc,
    "sub": np.subtract,
    "div": _divide,
    "mod": np.fmod,
    "shl": np.left_shift,
    "shr": np.right_shift,
    "lt": np.less,
    "ne": np.not_equal,
    "eq": np.equal,
    "where": np.where,
}
"""Every operation of ``kernel_body`` by name."""
