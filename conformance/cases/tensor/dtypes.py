"""The logical element types, by name, and the NumPy types that hold them."""

from __future__ import annotations

from typing import Any, Final, Literal

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Kind = Literal["bool", "integer", "float", "complex"]

NUMPY: Final[dict[str, np.dtype[Any]]] = {
    "bool": np.dtype(np.bool_),
    "int4": np.dtype(ml_dtypes.int4),
    "int8": np.dtype(np.int8),
    "int16": np.dtype(np.int16),
    "int32": np.dtype(np.int32),
    "int64": np.dtype(np.int64),
    "uint4": np.dtype(ml_dtypes.uint4),
    "uint8": np.dtype(np.uint8),
    "uint16": np.dtype(np.uint16),
    "uint32": np.dtype(np.uint32),
    "uint64": np.dtype(np.uint64),
    "float8_e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8_e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
    "complex64": np.dtype(np.complex64),
    "complex128": np.dtype(np.complex128),
}
"""Logical name to the NumPy type of one element in memory; int4 and uint4 use the low half of a byte."""

NAMES: Final = {dtype: name for name, dtype in NUMPY.items()}


def kind(name: str) -> Kind:
    """Return the family of a dtype: ``bool``, ``integer``, ``float`` or ``complex``."""
    if name == "bool":
        return "bool"
    return "integer" if "int" in name else "complex" if "complex" in name else "float"


def logical(dtype: np.dtype[Any]) -> str:
    """Return the logical name of a NumPy dtype; raise ``ValueError`` for one outside the specification."""
    try:
        return NAMES[np.dtype(dtype)]
    except KeyError:
        raise ValueError(f"dtype {dtype} has no logical name; known are {', '.join(NUMPY)}") from None
