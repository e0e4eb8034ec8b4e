"""Reductions of a list of blocks, one function for all operations that reduce."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from conformance.cases.dtypes import Array, kind, logical
from conformance.reference.rejected import Rejected

ARITHMETIC: Final = {"sum": np.add, "mean": np.add, "premul_sum": np.add, "product": np.multiply}
ORDER: Final = {"max": np.maximum, "min": np.minimum}
BITWISE: Final = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
REDUCTIONS: Final[dict[str, np.ufunc]] = {**ARITHMETIC, **ORDER, **BITWISE}


def fold(blocks: Sequence[Array], op: str, factor: float = 1.0) -> Array:
    """Return the blocks reduced from the left, in member order.

    bool counts as int32 in sum and product (``reduction.C11``); integers wrap; floats round to their dtype
    after every operation. mean divides the sum once, in float64 for integers and bool (``reduction.C9``, ``C13``).
    premul_sum multiplies every block by ``factor`` first.
    """
    check(logical(blocks[0].dtype), op)
    if blocks[0].dtype == np.bool_ and op in ARITHMETIC:
        blocks = [block.astype(np.int32) for block in blocks]
    dtype = blocks[0].dtype
    with np.errstate(all="ignore"):
        if op == "premul_sum":
            blocks = [_as(dtype, np.multiply(block, np.array(factor, dtype))) for block in blocks]
        total = functools.reduce(lambda left, right: _as(dtype, REDUCTIONS[op](left, right)), blocks)
        if op == "mean":
            return _mean(np.asarray(total), len(blocks))
    return np.array(total, dtype)


def check(dtype: str, op: str) -> None:
    """Raise ``Rejected`` when ``op`` is no reduction or has no meaning for ``dtype``."""
    if op not in REDUCTIONS:
        raise Rejected("reduction.C14", f"reduction {op!r} is unknown; known are {', '.join(REDUCTIONS)}")
    if op in BITWISE and kind(dtype) not in ("bool", "integer"):
        raise Rejected("reduction.C15", f"{op} of {dtype}: bitwise reductions are for bool and integers")
    if op in ORDER and kind(dtype) == "complex":
        raise Rejected("reduction.C16", f"{op} of {dtype}: complex numbers have no order")
    if op == "premul_sum" and kind(dtype) not in ("float", "complex"):
        raise Rejected("reduction.C17", f"premul_sum of {dtype}: only floats and complex numbers are scaled")


def _mean(total: Array, count: int) -> Array:
    if kind(logical(total.dtype)) == "integer":
        return np.asarray(total.astype(np.float64) / count)
    return _as(total.dtype, np.divide(total, np.array(count, total.dtype)))


def _as(dtype: np.dtype[Any], array: Any) -> Array:
    """Return ``array`` in ``dtype``: NumPy turns 4-bit maxima into bytes and 0-d arrays into scalars."""
    return np.asarray(array, dtype)
