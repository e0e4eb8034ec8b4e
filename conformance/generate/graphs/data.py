"""What buffers of graph cases hold, by regime."""

from __future__ import annotations

from typing import Final

import ml_dtypes
import numpy as np

from conformance.cases.tensor.dtypes import NUMPY, Array, kind
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.reference.schedule.data import DATA, WIDE, dangerous

REGIMES: Final = ("small", "small", "small", "wide", "zeros", "numberless", "ends", "real")
"""``small`` integers, of which few sums round; ``wide`` ones, that no narrower dtype holds; ``zeros`` of either sign
among numbers that round; ``numberless`` with infinities and NaNs; the ``ends`` of the range; ``real`` numbers, of which
most sums round. Half of all draws are of those that must come out bit by bit whatever the order. Short expressions also
have numbers ``below`` zero alone, whose maximum no padding may change, and unsigned ones of which some would be below
zero if they were signed."""

_DANGEROUS: Final = ("zeros", "numberless", "ends")
_POOL: Final = 12


@choices.composite
def contents(draw: Draw, shape: tuple[int, ...], dtype: str, regime: str) -> Tensor:
    """Draw the content of a buffer: a small pool of values, dealt in some order."""
    count = int(np.prod(shape, dtype=np.int64))
    pool = _pool(dtype, regime)
    picked = [draw.source.below(len(pool)) for _ in range(min(count, _POOL))] or [0]
    # Of a prime step each value comes beside each other.
    step = 1 if count <= _POOL else 7
    at = [picked[number * step % len(picked)] for number in range(count)]
    return from_array(pool[np.array(at, np.int64)].reshape(shape))


def _pool(dtype: str, regime: str) -> Array:
    held, family = NUMPY[dtype], kind(dtype)
    if dtype == "bool":
        return np.array([False, True])
    if regime in _DANGEROUS:
        return dangerous(dtype)[_DANGEROUS.index(regime)]
    values: list[float] = [*DATA[family]]
    if regime == "real" and family in ("float", "complex"):
        values = [0.3, -1.7, 2.9, -0.1, 5.3, 1.1, -3.3, 0.7, 8.9, -6.1, 0.02, 1.0]
    elif regime == "wide" and dtype in WIDE:
        values = [*WIDE[dtype]]
    elif regime == "wide" and family == "integer":
        info = ml_dtypes.iinfo(held)
        least, most = int(info.min), int(info.max)
        ends = (least, least + 3, -5, -1, 1, 2, 5, 100, most - 3, most)
        values = [each for each in ends if least <= each <= most]
    if regime == "below" and dtype in WIDE:
        values = [each for each in WIDE[dtype] if each < 0]
    elif regime == "below" and family == "integer":
        most = int(ml_dtypes.iinfo(held).max)
        values = [-7, -3, -2, -1] if ml_dtypes.iinfo(held).min else [1, 3, most // 2 + 1, most - 2]
    # Of small and large numbers together NumPy would make floats.
    found = np.array(values, {"uint64": np.uint64}.get(dtype)).astype(held)
    # Beside its own negative no part would show in a product of two.
    return found + np.array(1j, held) * np.roll(found, 1) if family == "complex" else found


def payload(draw: Draw, dtype: str) -> Tensor:
    """Draw a quiet NaN whose other bits say something, of either sign."""
    held = NUMPY[dtype]
    word = np.dtype(f"u{held.itemsize}")
    bits = np.array(np.nan).astype(held).view(word) | np.array(1 + draw.source.below(7), word)
    sign = np.array(draw.source.below(2), word) << np.array(8 * held.itemsize - 1, word)
    return from_array((bits | sign).view(held))


def constant(draw: Draw, dtype: str, *, plain: bool) -> Tensor:
    """Draw a constant: a small number, or what is dangerous to fold, NaN payloads and large integers among it."""
    held = NUMPY[dtype]
    if dtype == "bool":
        return from_array(np.array(draw.one((True, False))))
    if plain or draw.one((True, True, False)):
        values = {"integer": (1, 2, 3), "complex": (1, 2j, -1, 0.5 - 1j)}.get(kind(dtype), (1, 2, -1, 0.5))
        return from_array(np.array(draw.one(values)).astype(held))
    pool = dangerous(dtype)[draw.source.below(3)]
    found = np.array(pool[draw.source.below(len(pool))])
    if kind(dtype) == "float" and np.isnan(found) and held.itemsize > 1:
        # With a payload, which a constant keeps.
        bits = found.view(f"u{held.itemsize}") | np.array(5 + draw.source.below(3), f"u{held.itemsize}")
        found = bits.view(held)
    return from_array(found)
