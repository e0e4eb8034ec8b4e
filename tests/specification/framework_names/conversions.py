"""Conversions past the greatest number of a dtype: what is converted, and what our form gives."""

from __future__ import annotations

import numpy as np

from conformance.reference.graph.conversion import cast

PAST = {"float8_e4m3fn": [896.0, 464.0, 465.0], "float8_e5m2": [65536.0, 61439.0, 61440.0], "float16": [1e6, 65519.0]}
"""Numbers past the greatest number of each dtype, and some that are rounded down to it."""


def converted(dtype: str) -> list[float]:
    """Return what our conversion gives, as numbers of float64."""
    given: list[float] = cast(np.array(PAST[dtype], np.float32), dtype).astype(np.float64).tolist()
    return given
