"""A tensor as data: logical dtype, shape and the little-endian C-order bit pattern of its elements."""

from __future__ import annotations

import math
from typing import Any, Final

import msgspec
import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, Array, cleared, logical

MOST_AXES: Final = 64
"""Axes of one tensor: the most that NumPy has."""


class Tensor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One block of elements. ``bits`` is hex, so NaN payloads, -0.0 and every dtype survive JSON."""

    dtype: str
    shape: tuple[int, ...]
    bits: str

    def __post_init__(self) -> None:
        """Raise ``ValueError`` when dtype, shape and bits do not fit together."""
        if self.dtype not in NUMPY:
            raise ValueError(f"unknown dtype {self.dtype!r}; known are {', '.join(NUMPY)}")
        if len(self.shape) > MOST_AXES:  # whose product would take a while
            raise ValueError(f"{len(self.shape)} axes are more than {MOST_AXES}")
        if min(self.shape, default=0) < 0:
            raise ValueError(f"shape {list(self.shape)} has a negative extent")
        wanted = 2 * NUMPY[self.dtype].itemsize * math.prod(self.shape)
        if len(self.bits) != wanted:
            raise ValueError(
                f"a {self.dtype} tensor of shape {list(self.shape)} needs {wanted} hex digits, got {len(self.bits)}"
            )
        if self.bits.encode().translate(None, b"0123456789abcdef"):
            raise ValueError("the bits of a tensor must be lower-case hex digits")


def from_array(array: Array) -> Tensor:
    """Return the tensor with the logical value of ``array`` (any strides, any byte order), bit for bit.

    Bits that the dtype does not use are zero.
    """
    given = np.asarray(array)
    native = given if given.dtype.isnative else given.astype(given.dtype.newbyteorder("="))
    return Tensor(dtype=logical(native.dtype), shape=native.shape, bits=cleared(native).tobytes().hex())


def to_array(tensor: Tensor) -> Array:
    """Return a fresh, writable, C-contiguous array holding exactly the bits of ``tensor`` that its dtype uses."""
    flat: np.ndarray[Any, Any] = np.frombuffer(bytearray.fromhex(tensor.bits), dtype=NUMPY[tensor.dtype])
    return cleared(flat).reshape(tensor.shape)
