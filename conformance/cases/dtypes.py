"""The logical element types, by name, and the NumPy types that hold them."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

NUMPY: Final[dict[str, np.dtype[Any]]] = {
    "bool": np.dtype(np.bool_),
    "int32": np.dtype(np.int32),
    "uint8": np.dtype(np.uint8),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64),
}
"""Logical name to the NumPy type of one element in memory."""

NAMES: Final = {dtype: name for name, dtype in NUMPY.items()}


def kind(name: str) -> str:
    """Return the family of a dtype: ``bool``, ``integer`` or ``float``."""
    if name == "bool":
        return "bool"
    return "integer" if "int" in name else "float"


def logical(dtype: np.dtype[Any]) -> str:
    """Return the logical name of a NumPy dtype; raise ``ValueError`` for one outside the specification."""
    try:
        return NAMES[np.dtype(dtype)]
    except KeyError:
        raise ValueError(f"dtype {dtype} has no logical name; known are {', '.join(NUMPY)}") from None
