"""What constants make is a constant, if NumPy makes the same bits of it as a kernel would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from conformance.backends.opencl.graph.value import Value
from conformance.cases.tensor.dtypes import NUMPY, kind

_EXACT: Final[dict[str, Callable[..., Any]]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "neg": np.negative,
    "not": np.bitwise_not,
    "abs": np.abs,
    "trunc": np.trunc,
    "lt": np.less,
    "ne": np.not_equal,
    "eq": np.equal,
    "where": np.where,
}
"""The operations that are rounded once, or not at all; a complex product is several of them."""


_FLOATS: Final = ("float32", "float64")
"""The floats that NumPy itself converts, rounding once."""


def folded(op: str, of: Sequence[Value], dtype: str) -> bytes | None:
    """Return the bits of an elementwise operation on constants, or ``None`` where it is left to a kernel."""
    if op not in _EXACT or any(each.op != "const" or kind(each.dtype) == "complex" for each in of):
        return None
    with np.errstate(all="ignore"):
        found = _EXACT[op](*(_scalar(each) for each in of))
    return np.asarray(found).astype(NUMPY[dtype]).tobytes()


def converted(value: Value, dtype: str) -> bytes | None:
    """Return the bits of a constant in another dtype, or ``None`` where it is left to a kernel."""
    exact = kind(value.dtype) in ("bool", "integer") and (kind(dtype) == "integer" or dtype in _FLOATS)
    if value.op != "const" or not (exact or {value.dtype, dtype} <= {*_FLOATS}):
        return None
    with np.errstate(all="ignore"):
        found: bytes = _scalar(value).astype(NUMPY[dtype]).tobytes()
    return found


def neutral(op: str, of: Sequence[Value]) -> Value | None:
    """Return the operand that an operation of integers gives back: ``x + 0``, ``x * 1`` and the like.

    Of floats none is left out: they have signed zeros and NaNs. ``x * 0`` is no value that is there already.
    """
    if len(of) != 2 or kind(of[0].dtype) != "integer":
        return None
    numbers = [int(_scalar(each)) if each.op == "const" else None for each in of]
    for number, mine, other in ((numbers[1], of[1], of[0]), (numbers[0], of[0], of[1])):
        commutes = mine is of[1] or op in ("add", "mul", "or", "xor", "and")
        if number == 0 and commutes and op in ("add", "sub", "or", "xor", "shl", "shr"):
            return other
        if number == 1 and commutes and op == "mul":
            return other
    return None


def _scalar(value: Value) -> Any:
    return np.frombuffer(value.arg, NUMPY[value.dtype])[0:1].reshape(())
