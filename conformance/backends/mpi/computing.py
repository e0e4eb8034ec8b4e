"""Steps that compute on each rank alone, in NumPy's words: what a program that calls MPI does with its own arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from conformance.cases.graph.elementwise import COMPARISONS
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import NUMPY, Array, kind, logical


def computed(step: Step, operands: Sequence[Array]) -> Array:
    """Return what a step gives of the rank's blocks."""
    own = operands[-1].dtype
    acc = NUMPY[str(step.attrs["acc"])] if step.attrs.get("acc") else own
    with np.errstate(all="ignore"):
        if step.op == "cast":
            return _converted(operands[0], str(step.attrs["to"]))
        if step.op == "dot":
            return _product(*(np.asarray(each, acc) for each in operands)).astype(own)
        op: str = str(step.attrs["op"])
        if step.op == "fold":
            axes: Any = step.attrs["axes"]
            return np.asarray(_folded(op, np.asarray(operands[0], acc), tuple(axes))).astype(own)
        return np.asarray(CALLS[op](*operands), bool if op in COMPARISONS else own)


def _product(left: Array, right: Array) -> Array:
    """Return the contraction of the last axis of one array with the first of the other.

    NumPy's own products are those of a BLAS, which may leave out what is multiplied by zero, be it infinite.
    """
    axis, rest = left.ndim - 1, (1,) * (right.ndim - 1)
    products = np.multiply(left.reshape(*left.shape, *rest), right)
    return _folded("add", np.asarray(products, left.dtype), (axis,))


def _folded(op: str, values: Array, axes: tuple[int, ...]) -> Array:
    if op in ("max", "min"):
        # Of no element NumPy has no maximum: what is left is every axis but these, of which one has none.
        return np.asarray(CALLS[op].reduce(values, axis=axes))
    if logical(values.dtype) == "bool" and op in ("add", "mul"):
        return np.asarray((np.any if op == "add" else np.all)(values, axis=axes))
    return np.asarray(CALLS[op].reduce(values, axis=axes, dtype=values.dtype))


def _converted(values: Array, dtype: str) -> Array:
    """Return the values in another dtype; of a complex number a real dtype has the real part."""
    if values.dtype.kind == "c" and kind(dtype) not in ("complex", "bool"):
        values = values.real
    if values.dtype.itemsize == NUMPY[dtype].itemsize == 1 and kind(logical(values.dtype)) == kind(dtype) == "float":
        values = values.astype(np.float64)  # Of formats of 8 bits ml_dtypes has no conversion to each other.
    return values.astype(NUMPY[dtype])


def _divided(left: Array, right: Array) -> Array:
    if kind(logical(left.dtype)) != "integer":
        return np.asarray(np.divide(left, right))
    right = np.where(right == 0, np.ones((), right.dtype), right)
    return np.asarray((left - np.fmod(left, right)) // right)


CALLS: Final[Mapping[str, Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": _divided, "mod": np.fmod, "max": np.maximum,
    "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "shl": np.left_shift,
    "shr": np.right_shift, "lt": np.less, "ne": np.not_equal, "eq": np.equal, "where": np.where, "neg": np.negative,
    "not": np.bitwise_not, "abs": np.abs, "recip": lambda value: np.divide(np.ones((), value.dtype), value),
    "sqrt": np.sqrt, "exp2": np.exp2, "log2": np.log2, "sin": np.sin, "trunc": np.trunc,
}  # fmt: skip
