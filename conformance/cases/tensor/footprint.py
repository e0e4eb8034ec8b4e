"""How many bytes tensors have, and how many they may have: asked before anything of them is made."""

from __future__ import annotations

import math
from typing import Final

from conformance.cases.case_error import CaseError
from conformance.cases.limit import Limit, NamedAmount
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import MOST_AXES

MOST_BYTES: Final = 1 << 30
"""Bytes of one tensor, where the environment does not allow a case more."""

MOST_MADE: Final = 1 << 29
"""Bytes of all values of one case, inputs included, on all ranks together, where the environment says nothing else.

The largest drawn case has 60 MiB. The reference takes three to four times as much: 2.4 GiB for a mean of int8 of
584 MiB, in 26 s (29 November 2026).
"""

VARIABLE: Final = "CONFORMANCE_MOST_BYTES"
"""What the environment calls how many bytes all values of a case may have."""


def _shown(size: int) -> str:
    """Return a number of bytes in words; one too long to be written is more than a number that is not."""
    return f"{size / 2**20:.1f} MiB" if size < 1 << 60 else f"more than {1 << 40} MiB"


ValueBytes = NamedAmount
"""What makes a value, in words, and how many bytes it has, on all ranks together, at most."""

_VALUES: Final = Limit(
    VARIABLE,
    "bytes",
    MOST_MADE,
    _shown,
    "{where}: the values up to this one have {total}, over the limit of {most} for a case",
)

check_values: Final = _VALUES.check
"""Raise ``CaseError`` where the values of a case, inputs included, have more bytes together than are allowed."""

allowed: Final = _VALUES.allowed


def footprint(where: str, dtype: str, shape: tuple[int, ...]) -> int:
    """Return the bytes of a tensor that is reasonable in every extent; allocates nothing.

    Raise ``CaseError``, which begins with ``where``, for an unknown dtype, a negative extent, more axes than
    ``MOST_AXES`` and more bytes than ``MOST_BYTES`` (and than are ``allowed``), counting an extent of 0 as 1.
    """
    if dtype not in NUMPY:
        raise CaseError(f"{where}: unknown dtype {dtype!r}; known are {', '.join(NUMPY)}")
    if len(shape) > MOST_AXES:
        raise CaseError(f"{where}: {len(shape)} axes are more than {MOST_AXES}")
    if any(extent < 0 for extent in shape):
        raise CaseError(f"{where}: shape {list(shape)} has a negative extent")
    size = NUMPY[dtype].itemsize * math.prod(max(extent, 1) for extent in shape)
    if size > MOST_BYTES and size > (most := max(MOST_BYTES, allowed())):
        raise CaseError(f"{where}: shape {list(shape)} of {dtype} is over the limit of {most >> 20} MiB")
    return NUMPY[dtype].itemsize * math.prod(shape)


def check_total(size: int) -> None:
    """Raise ``CaseError`` when all inputs together have more bytes than the values of a case may have."""
    if size > (most := allowed()):
        more = f"{VARIABLE}=BYTES in the environment allows more"
        raise CaseError(f"the inputs have {size} bytes, over the limit of {_shown(most)} for a case; {more}")
