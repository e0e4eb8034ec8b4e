"""Which results of single operations are exact, and which a dtype leaves open, element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import DTYPES, NUMPY, Array, kind, logical
from conformance.reference.graph.complex_arithmetic import complex_open, complex_rounds
from conformance.reference.graph.conversion import cast
from conformance.reference.graph.real_arithmetic import Where, real_rounds


def rounds(op: str, of: Sequence[Array], made: Array) -> Where:
    """Return where a sum, a difference, a product or a quotient is not exactly ``made``."""
    return (complex_rounds if made.dtype.kind == "c" else real_rounds)(op, of, made)


def unsettled(op: str, of: Sequence[Array], made: Array) -> Where:
    """Return where several results of an elementwise operation are right.

    Of integers that is a division by zero, one that overflows, and a shift beyond the width. Of floats it is what is
    made in several steps by some: a quotient by the reciprocal, a root by the reciprocal root, a remainder by the
    quotient; what no standard asks to be rounded rightly; and what overflows 8 bits, which some saturate.
    """
    dtype = logical(made.dtype)
    if kind(logical(of[0].dtype)) == "integer":
        return _unsettled_integer(op, of)
    if kind(dtype) == "complex":
        return complex_open(op, of, made)
    if kind(dtype) != "float":
        return np.zeros(made.shape, np.bool_)
    found = np.zeros(made.shape, np.bool_)
    if op == "div":
        other = np.asarray(of[0] * (np.ones((), of[1].dtype) / of[1]), of[0].dtype)
        found = _differ(made, other)
    elif op == "mod":
        other = np.asarray(of[0] - np.trunc(of[0] / of[1]).astype(made.dtype) * of[1], made.dtype)
        found = _differ(made, other)
    elif op in ("recip", "sqrt"):
        back = made if op == "recip" else np.asarray(made * made, made.dtype)
        found = rounds("recip", of, made) if op == "recip" else (back != of[0]) & np.isfinite(made)
        if op == "sqrt":
            found |= np.isfinite(made) & rounds("mul", (made, made), np.asarray(of[0]))
            other = np.asarray(of[0] * (np.ones((), made.dtype) / made), made.dtype)
            found |= np.isfinite(made) & (made != 0) & _differ(made, other)
    elif op in ("exp2", "log2"):
        # Exact between whole numbers and powers of two.
        whole = of[0] if op == "exp2" else made
        found = np.isfinite(whole) & np.isfinite(made) & ((np.trunc(whole) != whole) | (made == 0) & (op == "exp2"))
    elif op == "sin":
        found = np.isfinite(of[0]) & (of[0] != 0)
    if made.dtype.itemsize == 1:
        finite = np.ones(made.shape, np.bool_)
        for value in of:
            finite &= np.isfinite(value)
        found |= finite & ~np.isfinite(made) & ~_invalid(op, of)
    return np.asarray(found, np.bool_)


def _invalid(op: str, of: Sequence[Array]) -> Where:
    """Return where an operation on numbers has no result, so that it is NaN and nothing overflows."""
    if op == "div":
        return np.asarray((of[0] == 0) & (of[1] == 0))
    if op == "mod":
        return np.asarray(of[1] == 0)
    return np.asarray(of[0] < 0) if op in ("sqrt", "log2") else np.zeros(of[0].shape, np.bool_)


def _differ(one: Array, other: Array) -> Where:
    return np.asarray((one != other) & ((one == one) | (other == other)))  # noqa: PLR0124 - a NaN differs from itself


def _unsettled_integer(op: str, of: Sequence[Array]) -> Where:
    if op in ("div", "mod"):
        least = ml_dtypes.iinfo(of[0].dtype).min
        minus = (of[1].astype(np.int64) == -1) if least < 0 else np.zeros(of[1].shape, np.bool_)
        return np.asarray((of[1] == 0) | ((of[0] == least) & minus))
    if op in ("shl", "shr"):
        width = DTYPES[logical(of[0].dtype)].bits
        return np.asarray((of[1] < 0) | (of[1] >= width))
    return np.zeros(of[0].shape, np.bool_)


def open_cast(values: Array, dtype: str) -> Where:
    """Return where a conversion has several right results.

    These are a float out of an integer's range, which C leaves undefined; what is rounded to another value of at most
    16 bits by way of ``float32`` or ``float64``, of 8 bits also by way of 16; what overflows a float of 8 bits; and an
    imaginary number as a bool, of which ``jax.lax.convert_element_type`` takes the real part, as for any other dtype.
    An integer becomes a ``float32`` in one rounding (IEEE 754, 5.4.1).
    """
    here, there = kind(logical(values.dtype)), kind(dtype)
    if here == "complex" and there == "bool":
        return np.asarray((values.real == 0) & (values.imag != 0))
    if here == "complex" and there != "complex":
        return open_cast(values.real, dtype)
    nowhere = np.zeros(values.shape, np.bool_)
    with np.errstate(all="ignore"):
        if here == "float" and there == "integer":
            info = ml_dtypes.iinfo(NUMPY[dtype])
            wide = values.astype(np.float64)
            # The greatest integer may be no float, and the next one is out of range.
            return ~((np.trunc(wide) >= float(info.min)) & (np.trunc(wide) <= _below(info.max)))
        if there != "float" or here == "complex":
            return nowhere
        held: Any = NUMPY[dtype]
        if held.itemsize > 2:
            return nowhere
        direct = cast(values, dtype)
        found = nowhere
        ways = ["float32", "float64"]
        if held.itemsize == 1 and dtype != "float8_e8m0fnu":  # whose range float16 does not have
            ways += ["float16", "bfloat16"]
        for way in ways:
            found = found | _differ(direct, cast(cast(values, way), dtype))
        if held.itemsize == 1:
            finite = np.isfinite(values) if here == "float" else np.ones(values.shape, np.bool_)
            found = found | ~finite | ~np.isfinite(direct)
    return found


def _below(most: int) -> float:
    """Return the greatest float64 that is no more than an integer."""
    found = float(most)
    return found if int(found) <= most else float(np.nextafter(found, 0.0))
