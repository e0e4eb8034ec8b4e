"""How many bytes tensors have, and how many they may have: asked before anything of them is made."""

from __future__ import annotations

import math
from typing import Final

from conformance.cases.case_error import CaseError
from conformance.cases.tensor.dtypes import NUMPY

MOST_AXES: Final = 64
"""Axes of one tensor: the most that NumPy has."""

MOST_BYTES: Final = 1 << 30
"""Bytes of all inputs of one case, on all ranks together."""


def footprint(where: str, dtype: str, shape: tuple[int, ...]) -> int:
    """Return the bytes of a tensor that is reasonable in every extent; allocates nothing.

    Raise ``CaseError``, which begins with ``where``, for an unknown dtype, a negative extent, more axes than
    ``MOST_AXES`` and more bytes than ``MOST_BYTES``, counting an extent of 0 as 1.
    """
    if dtype not in NUMPY:
        raise CaseError(f"{where}: unknown dtype {dtype!r}; known are {', '.join(NUMPY)}")
    if len(shape) > MOST_AXES:
        raise CaseError(f"{where}: {len(shape)} axes are more than {MOST_AXES}")
    if any(extent < 0 for extent in shape):
        raise CaseError(f"{where}: shape {list(shape)} has a negative extent")
    if NUMPY[dtype].itemsize * math.prod(max(extent, 1) for extent in shape) > MOST_BYTES:
        raise CaseError(f"{where}: shape {list(shape)} of {dtype} is over the limit of {MOST_BYTES >> 20} MiB")
    return NUMPY[dtype].itemsize * math.prod(shape)


def check_total(size: int) -> None:
    """Raise ``CaseError`` when all inputs together have more than ``MOST_BYTES`` bytes."""
    if size > MOST_BYTES:
        raise CaseError(f"the inputs have {size} bytes, over the limit of {MOST_BYTES >> 20} MiB for a case")
