"""The logical element types: one row each, with the NumPy type that holds an element."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Kind = Literal["bool", "integer", "float", "complex"]


class Dtype(NamedTuple):
    """A dtype: its ``name``, what ``holds`` one element in memory, its family, and how many ``bits`` of that are used.

    Those that are ``drawn`` are in every domain. The others are drawn by the suite ``dtypes`` alone, for movement and
    for reductions that round nothing: no number model is declared for what is rounded in them.
    """

    name: str
    holds: np.dtype[Any]
    kind: Kind
    bits: int
    drawn: bool = True


def _native(kind: Kind, *names: str) -> tuple[Dtype, ...]:
    types = (np.dtype("bool" if name == "bool" else name) for name in names)
    return tuple(Dtype(name, held, kind, 8 * held.itemsize) for name, held in zip(names, types, strict=True))


def _extended(name: str, kind: Kind, bits: int, *, drawn: bool = False) -> Dtype:
    return Dtype(name, np.dtype(getattr(ml_dtypes, name)), kind, bits, drawn)


ROWS: Final = (
    *_native("bool", "bool"),
    _extended("int4", "integer", 4, drawn=True),
    *_native("integer", "int8", "int16", "int32", "int64"),
    _extended("uint4", "integer", 4, drawn=True),
    *_native("integer", "uint8", "uint16", "uint32", "uint64"),
    _extended("float8_e4m3fn", "float", 8, drawn=True),
    _extended("float8_e5m2", "float", 8, drawn=True),
    *_native("float", "float16"),
    _extended("bfloat16", "float", 16, drawn=True),
    *_native("float", "float32", "float64"),
    *_native("complex", "complex64", "complex128"),
    _extended("int2", "integer", 2),
    _extended("uint2", "integer", 2),
    _extended("float8_e3m4", "float", 8),
    _extended("float8_e4m3", "float", 8),
    _extended("float8_e4m3b11fnuz", "float", 8),
    _extended("float8_e4m3fnuz", "float", 8),
    _extended("float8_e5m2fnuz", "float", 8),
    _extended("float8_e8m0fnu", "float", 8),
    _extended("float6_e2m3fn", "float", 6),
    _extended("float6_e3m2fn", "float", 6),
    _extended("float4_e2m1fn", "float", 4),
)
"""Every dtype. Elements of fewer than 8 bits are the lowest bits of a byte each."""

DTYPES: Final = {row.name: row for row in ROWS}

NUMPY: Final[dict[str, np.dtype[Any]]] = {row.name: row.holds for row in ROWS}
"""Logical name to the NumPy type of one element in memory."""

DRAWN: Final = tuple(row.name for row in ROWS if row.drawn)
"""The dtypes that every domain draws."""

RARE: Final = tuple(row.name for row in ROWS if not row.drawn)
"""The dtypes that the suite ``dtypes`` draws. Each has at most 256 values."""

_USED: Final = {row.holds: np.uint8((1 << row.bits) - 1) for row in ROWS if row.bits < 8 * row.holds.itemsize}

NAMES: Final = {dtype: name for name, dtype in NUMPY.items()}


def kind(name: str) -> Kind:
    """Return the family of a dtype: ``bool``, ``integer``, ``float`` or ``complex``; of no dtype it is ``float``."""
    return DTYPES[name].kind if name in DTYPES else "float"


def cleared(array: Array) -> Array:
    """Return an array whose elements have zeros in the bits that their dtype does not use; others as they are.

    Values do not depend on these bits, and who computes in wider integers leaves copies of the sign there.
    """
    used = _USED.get(array.dtype)
    return array if used is None else np.asarray(array.view(np.uint8) & used).view(array.dtype)


def infinite(name: str) -> bool:
    """Return whether a float dtype has infinities; what overflows in one that has none is NaN, where it has that."""
    with np.errstate(all="ignore"):
        # Of a complex number the real part: NumPy warns of who drops the other one without a word.
        return bool(np.isinf(np.array(np.inf, np.float32).astype(NUMPY[name]).real.astype(np.float32)))


def logical(dtype: np.dtype[Any]) -> str:
    """Return the logical name of a NumPy dtype; raise ``ValueError`` for one outside the specification."""
    try:
        return NAMES[np.dtype(dtype)]
    except KeyError:
        raise ValueError(f"dtype {dtype} has no logical name; known are {', '.join(NUMPY)}") from None
