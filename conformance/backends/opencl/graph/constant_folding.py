"""What constants make is a constant, if NumPy makes the same bits of it as a kernel would."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import ml_dtypes
import msgspec
import numpy as np

from conformance.backends.opencl.graph.value import GraphValue
from conformance.cases.tensor.dtypes import DTYPES, NUMPY, kind

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
"""The operations that are rounded once, or not at all."""


def _product(left: Any, right: Any) -> Any:
    """Return a complex product of which every step is rounded, as in a kernel; that of NumPy may fuse some."""
    real = left.real * right.real - left.imag * right.imag
    imag = left.real * right.imag + left.imag * right.real
    return np.stack([real, imag]).view(left.dtype)[0]


_QUOTIENTS: Final[dict[str, Callable[..., Any]]] = {
    "div": np.divide,
    "recip": lambda value: np.divide(np.ones((), value.dtype), value),
}

_OF_COMPLEX: Final[dict[str, Callable[..., Any]]] = {
    **{op: _EXACT[op] for op in ("add", "sub", "neg", "ne", "eq", "where")},
    **_QUOTIENTS,
    "mul": _product,
}
"""Those of complex numbers: quotients are by Smith's method in NumPy and in kernels."""

_PARTS: Final = {"complex64": "float32", "complex128": "float64"}
"""The dtype of both parts of a complex number."""

_OF_FLOATS: Final[dict[str, Callable[..., Any]]] = {
    **_QUOTIENTS,
    "mod": np.fmod,
    "sqrt": np.sqrt,
    "exp2": np.exp2,
    "log2": np.log2,
    "sin": np.sin,
}
"""Those of floats alone: the last three are as near to what is right as a kernel's, if not the same bits."""


_FLOATS: Final = ("float32", "float64")
"""The floats that NumPy itself converts, rounding once."""

_HALVES: Final = ("float16", "bfloat16")
"""Those that float32 is rounded to once, and what is too large becomes infinite."""


def folded(op: str, of: Sequence[GraphValue], dtype: str) -> bytes | None:
    """Return the bits of an elementwise operation on constants, or ``None`` where it is left to a kernel."""
    kinds = {kind(each.dtype) for each in of}
    if any(each.op != "const" for each in of):
        return None
    if kinds == {"integer"} and op in ("div", "mod", "shl", "shr"):
        return _of_integers(op, int(_scalar(of[0])), int(_scalar(of[1])), dtype)
    if "complex" in kinds:
        function = _OF_COMPLEX.get(op)
    else:
        function = _EXACT.get(op) or (_OF_FLOATS.get(op) if kinds == {"float"} else None)
    if function is None:
        return None
    with np.errstate(all="ignore"):
        found = function(*(_scalar(each) for each in of))
    return np.asarray(found).astype(NUMPY[dtype]).tobytes()


def _of_integers(op: str, left: int, right: int, dtype: str) -> bytes | None:
    """Return a quotient, a remainder or a shift in the dtype of both; by zero what a kernel gives, ``left`` and 0."""
    if op in ("shl", "shr") and not 0 <= right < DTYPES[dtype].bits:
        return None
    if op in ("div", "mod") and right == 0:
        return _of_integers(op, left if op == "div" else 0, 1, dtype)
    sign = -1 if (left < 0) != (right < 0) else 1
    quotient = sign * (abs(left) // abs(right)) if op in ("div", "mod") else 0
    made = {"div": quotient, "mod": left - quotient * right}
    # What does not fit wraps: the least number by -1, and what is shifted out.
    return _wrapped(made[op] if op in made else left << right if op == "shl" else left >> right, dtype)


def _wrapped(number: int, dtype: str) -> bytes:
    """Return the bits of the integer of a dtype that is ``number`` but for a multiple of how many integers it has."""
    bits = DTYPES[dtype].bits
    least = number % (1 << bits)
    signed = not dtype.startswith("u") and bool(least >> (bits - 1))
    whole = least - (1 << bits) if signed else least
    return np.asarray(whole, np.int64 if signed else np.uint64).astype(NUMPY[dtype]).tobytes()


def converted(value: GraphValue, dtype: str) -> bytes | None:
    """Return the bits of a constant in another dtype, or ``None`` where it is left to a kernel."""
    if value.op != "const":
        return None
    if "complex" in (kind(value.dtype), kind(dtype)):
        return _of_parts(value, dtype)
    whole = kind(value.dtype) in ("bool", "integer")
    if whole and kind(dtype) == "integer":
        # Between integers narrower than a byte ml_dtypes has no conversion.
        return _wrapped(int(_scalar(value)), dtype)
    exact = whole and dtype in _FLOATS
    if not (exact or {value.dtype, dtype} <= {*_FLOATS} or _once(value, dtype)):
        return _certain(value, dtype)
    with np.errstate(all="ignore"):
        number = _scalar(value)
        found: bytes = (number.astype(np.float32) if dtype in _HALVES else number).astype(NUMPY[dtype]).tobytes()
    return found


def _of_parts(value: GraphValue, dtype: str) -> bytes | None:
    """Return the bits where either dtype is complex, or ``None``: a bool is of both parts, others of the first."""
    if kind(dtype) == "bool":
        return np.asarray(_scalar(value) != 0).tobytes()
    parts = [value]
    if value.dtype in _PARTS:
        half = len(value.arg) // 2
        bits = value.arg[:half], value.arg[half:]
        parts = [msgspec.structs.replace(value, dtype=_PARTS[value.dtype], arg=each) for each in bits]
    if dtype not in _PARTS:
        return converted(parts[0], dtype)
    found = [converted(each, _PARTS[dtype]) for each in parts]
    known = [each for each in found if each is not None]
    return b"".join(known).ljust(NUMPY[dtype].itemsize, b"\0") if len(known) == len(found) else None


def _once(value: GraphValue, dtype: str) -> bool:
    """Return whether a finite number becomes one of another dtype by way of float32 with one rounding, or none."""
    if kind(dtype) != "float":
        return False
    with np.errstate(all="ignore"):
        found = np.asarray(_scalar(value)).astype(np.float32)
        there = np.isfinite(found) and found.astype(NUMPY[value.dtype]).tobytes() == value.arg
    return bool(there) and dtype in (*_FLOATS, *_HALVES)


def _certain(value: GraphValue, dtype: str) -> bytes | None:
    """Return the bits of a number whose conversion has one result on every device, or ``None``.

    To a bool any has; to an integer a float whose whole part it can hold; to a float a number that it can hold.
    """
    number = _scalar(value)
    known = int(number) if kind(value.dtype) in ("bool", "integer") else float(number)
    if kind(dtype) == "bool":
        return np.asarray(known != 0).tobytes()
    if not math.isfinite(known):
        return None
    if kind(dtype) == "integer":
        info, whole = ml_dtypes.iinfo(NUMPY[dtype]), math.trunc(known)
        if not int(info.min) <= whole <= int(info.max):
            return None
        return np.asarray(whole, np.int64 if whole < 0 else np.uint64).astype(NUMPY[dtype]).tobytes()
    with np.errstate(all="ignore"):
        found = np.asarray(float(known)).astype(NUMPY[dtype])
    same = float(found) == known and math.copysign(1, float(found)) == math.copysign(1, known)
    return found.tobytes() if same else None


def neutral(op: str, of: Sequence[GraphValue]) -> GraphValue | None:
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


def _scalar(value: GraphValue) -> Any:
    return np.frombuffer(value.arg, NUMPY[value.dtype])[0:1].reshape(())
