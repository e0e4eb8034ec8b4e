"""How a block lies in memory: the logical value never depends on it, which is exactly what must be tested.

A block is a view of a *storage*, a one-dimensional array that may be larger than the block. Elements of
the storage outside the block hold a canary, so a write beyond the view is seen.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

import numpy as np

from conformance.cases.tensor.dtypes import Array

Layout = Literal["contiguous", "strided", "transposed", "flipped", "broadcast", "offset"]
LAYOUTS: Final[tuple[Layout, ...]] = get_args(Layout)

CANARY: Final = 0xA5
"""Byte that fills the storage around a block; as a bool it is not canonical, as a float it is tiny."""

OFFSET: Final = 3
"""Elements before an ``offset`` block: odd, so no vector load is aligned by chance."""


def place(block: Array, layout: Layout) -> tuple[Array, Array]:
    """Return ``(storage, view)``: fresh storage and the view of it that has the value of ``block``.

    ``contiguous``: C order, nothing around it. ``strided``: every second element of the last axis.
    ``transposed``: Fortran order. ``flipped``: negative strides on every axis. ``offset``: C order,
    ``OFFSET`` elements into its storage. ``broadcast``: stride 0 on the first axis; raise ``ValueError``
    unless the block is constant along it. A block without axes has one element, so only ``offset`` moves it.
    """
    shape = block.shape
    if layout == "contiguous" or (block.ndim == 0 and layout != "offset"):
        storage = _storage(block.size, block.dtype)
        view = storage.reshape(shape)
    elif layout == "strided":
        storage = _storage(2 * block.size, block.dtype)
        view = storage.reshape(*shape[:-1], 2 * shape[-1])[..., ::2]
    elif layout == "transposed":
        storage = _storage(block.size, block.dtype)
        view = storage.reshape(shape[::-1]).T
    elif layout == "flipped":
        storage = _storage(block.size, block.dtype)
        view = storage.reshape(shape)[(slice(None, None, -1),) * block.ndim]
    elif layout == "offset":
        storage = _storage(block.size + 2 * OFFSET, block.dtype)
        view = storage[OFFSET : OFFSET + block.size].reshape(shape)
    elif layout == "broadcast":
        return _broadcast(block)
    else:
        raise ValueError(f"unknown layout {layout!r}; known are {', '.join(LAYOUTS)}")
    view[...] = block
    return storage, view


def _storage(size: int, dtype: np.dtype[np.generic]) -> Array:
    return np.full(size * dtype.itemsize, CANARY, np.uint8).view(dtype)


def _broadcast(block: Array) -> tuple[Array, Array]:
    if block.shape[0] == 0:
        storage = _storage(0, block.dtype)
        return storage, storage.reshape(block.shape)
    row = block[:1]
    same = np.broadcast_to(row, block.shape)
    if block.tobytes() != same.tobytes():
        raise ValueError("a broadcast block must be constant along its first axis")
    storage = _storage(row.size, block.dtype)
    storage.reshape(row.shape)[...] = row
    strides = (0, *storage.reshape(row.shape).strides[1:])
    # The buffer is bytes because the buffer protocol does not know the 8-bit floats.
    view: Array = np.ndarray(block.shape, block.dtype, buffer=storage.view(np.uint8).data, strides=strides)
    view.flags.writeable = False
    return storage, view
