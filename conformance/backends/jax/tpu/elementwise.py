"""HLO's elementwise operations on arrays of NumPy: each rounds to its dtype, as the compiler's language says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Instruction
from conformance.cases.tensor.dtypes import NUMPY, Array, kind

Binary = Callable[[Array, Array], Any]


def _divide(x: Array, y: Array) -> Any:
    if x.dtype.kind not in "iu":
        return np.divide(x, y)
    safe = np.where(y == 0, 1, y).astype(x.dtype)
    quotient = x // safe
    # Towards zero, where NumPy goes down; of the least integer there is no magnitude.
    quotient = quotient + ((quotient * safe != x) & ((x < 0) != (safe < 0))).astype(x.dtype)
    # By zero XLA gives all bits set.
    return np.where(y == 0, np.array(-1).astype(x.dtype), quotient.astype(x.dtype))


def _remainder(x: Array, y: Array) -> Any:
    if x.dtype.kind not in "iu":
        return np.fmod(x, y)
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, 1, y)))


def _shift(x: Array, y: Array, make: Callable[[Array, Array], Any], beyond: Any) -> Any:
    bits = 8 * x.dtype.itemsize
    inside = (y >= 0) & (y < bits)
    return np.where(inside, make(x, np.where(inside, y, 0)), beyond)


def _unsigned(x: Array) -> Array:
    return x.view(np.dtype(f"u{x.dtype.itemsize}")) if x.dtype.kind == "i" else x


def _logical(x: Array, y: Array) -> Any:
    return _shift(_unsigned(x), _unsigned(y), np.right_shift, 0).view(x.dtype)


def _arithmetic(x: Array, y: Array) -> Any:
    signed = x.view(np.dtype(f"i{x.dtype.itemsize}"))
    count = y.view(signed.dtype)
    return _shift(signed, count, np.right_shift, np.where(signed < 0, -1, 0)).astype(signed.dtype).view(x.dtype)


BINARY: Final[dict[str, Binary]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": _divide, "remainder": _remainder,
    "maximum": np.maximum, "minimum": np.minimum, "power": np.power, "atan2": np.arctan2,
    "and": lambda x, y: np.logical_and(x, y) if x.dtype == bool else np.bitwise_and(x, y),
    "or": lambda x, y: np.logical_or(x, y) if x.dtype == bool else np.bitwise_or(x, y),
    "xor": lambda x, y: np.logical_xor(x, y) if x.dtype == bool else np.bitwise_xor(x, y),
    "shift-left": lambda x, y: _shift(x, y, np.left_shift, 0).astype(x.dtype),
    "shift-right-logical": _logical, "shift-right-arithmetic": _arithmetic,
}  # fmt: skip


def _leading_zeros(x: Array) -> Array:
    """Return how many bits before the first that is set are not."""
    wide, bits = _unsigned(x).astype(np.uint64), 8 * x.dtype.itemsize
    found = np.full(x.shape, bits)
    for bit in range(bits):
        found = np.where(wide >> np.uint64(bit), bits - 1 - bit, found)
    return found


UNARY: Final[dict[str, Callable[[Array], Any]]] = {
    "negate": lambda x: np.negative(x.astype(np.int8)).astype(bool) if x.dtype == bool else np.negative(x),
    "abs": np.abs, "sign": np.sign, "not": lambda x: np.logical_not(x) if x.dtype == bool else np.invert(x),
    "floor": np.floor, "ceil": np.ceil, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "exponential": np.exp,
    "log": np.log, "sine": np.sin, "cosine": np.cos, "tanh": np.tanh, "round-nearest-even": np.rint,
    "exponential-minus-one": np.expm1, "log-plus-one": np.log1p, "cbrt": np.cbrt, "is-finite": np.isfinite,
    "popcnt": np.bitwise_count, "count-leading-zeros": _leading_zeros, "tan": np.tan,

    "round-nearest-afz": lambda x: np.trunc(x) + np.copysign(abs(x - np.trunc(x)) >= 0.5, x),
    "logistic": lambda x: 1 / (1 + np.exp(-x)), "real": np.real, "imag": np.imag,
}  # fmt: skip

COMPARED: Final[dict[str, Binary]] = {
    "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal,
}  # fmt: skip


def elementwise(node: Instruction, operands: list[Array]) -> Array | None:
    """Return the value of an elementwise instruction; ``None`` for another one."""
    dtype = NUMPY.get(node.shape.dtype)
    with np.errstate(all="ignore"):
        if node.opcode in BINARY:
            found = BINARY[node.opcode](*operands)
        elif node.opcode in UNARY:
            found = UNARY[node.opcode](*operands)
        elif node.opcode == "compare":
            found = _compared(node, *operands)
        elif node.opcode == "select":
            where, yes, no = operands
            found = np.where(where.reshape(where.shape + (1,) * (yes.ndim - where.ndim)), yes, no)
        elif node.opcode == "clamp":
            low, value, high = operands
            more = (1,) * (value.ndim - low.ndim)
            found = np.minimum(np.maximum(value, low.reshape(low.shape + more)), high.reshape(high.shape + more))
        elif node.opcode == "convert":
            found = converted(operands[0], node.shape.dtype)
        elif node.opcode == "bitcast-convert":
            found = _viewed(node, operands[0])
        else:
            return None
    return np.asarray(found).astype(dtype)


def _compared(node: Instruction, x: Array, y: Array) -> Any:
    if node.message.text(72) == "TOTALORDER" and kind(_name(x)) == "float":
        x, y = _ordered(x), _ordered(y)
    return COMPARED[node.message.text(63)](x, y)


def _name(x: Array) -> str:
    return next(name for name, dtype in NUMPY.items() if dtype == x.dtype)


def _ordered(x: Array) -> Array:
    """Return the bits of floats as integers of the same total order: -NaN, -inf, ..., -0, 0, ..., inf, NaN."""
    bits = x.view(np.dtype(f"i{x.dtype.itemsize}"))
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def converted(x: Array, dtype: str) -> Array:
    """Return a conversion: floats to integers towards zero and no further than the extremes, NaN to 0."""
    to = NUMPY[dtype]
    if x.dtype == to:
        return x
    if dtype == "bool":
        return np.asarray(x != 0)
    if kind(dtype) == "integer" and kind(_name(x)) == "float":
        wide = np.nan_to_num(np.trunc(x.astype(np.float64)), nan=0.0)
        limits = np.iinfo(to)
        # 2**63 - 1 is no double: what is not below the limit is the limit.
        inside = np.clip(wide, float(limits.min), np.nextafter(float(limits.max), 0)).astype(to)
        return np.where(wide >= float(limits.max), limits.max, inside).astype(to)
    return x.astype(to)


def _viewed(node: Instruction, x: Array) -> Array:
    if NUMPY[node.shape.dtype].itemsize != x.dtype.itemsize:
        raise Unsupported("a bitcast-convert between widths")
    return np.ascontiguousarray(x).view(NUMPY[node.shape.dtype]).reshape(x.shape)
