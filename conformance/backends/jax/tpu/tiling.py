"""Where the elements of a value lie in a TPU's memory, which is cut into tiles."""

from __future__ import annotations

from typing import Final

import numpy as np

from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Shape
from conformance.cases.tensor.dtypes import Array

_POISON_OF_FLOATS: Final = 0xFF
"""A NaN in every format of floats but those that have none."""

_POISON: Final = 0x5A


def positions(shape: Shape) -> Array:
    """Return for each element of a value its number among the elements and the padding that memory holds.

    A tile of k extents cuts the last k axes, slowest first, and each further tile cuts what the one before made.
    """
    slowest_first = tuple(reversed(shape.order))
    sizes = [shape.extents[axis] for axis in slowest_first]
    at = [np.indices(shape.extents, np.int64)[axis] for axis in slowest_first]
    zero = np.zeros(shape.extents, np.int64)
    for tile in shape.tiles:
        if any(extent <= 0 for extent in tile):
            raise Unsupported(f"a tile {tile} that joins axes")
        more = max(len(tile) - len(sizes), 0)
        sizes, at = [1] * more + sizes, [zero] * more + at
        kept, cut = len(sizes) - len(tile), range(len(sizes) - len(tile), len(sizes))
        inner = [at[axis] % tile[axis - kept] for axis in cut]
        outer = [at[axis] // tile[axis - kept] for axis in cut]
        sizes = [*sizes[:kept], *(-(-sizes[axis] // tile[axis - kept]) for axis in cut), *tile]
        at = [*at[:kept], *outer, *inner]
    found = zero
    for size, index in zip(sizes, at, strict=True):
        found = found * size + index
    return found


def reinterpreted(
    values: Array, of: Shape, to: Shape, dtype: np.dtype[np.generic], padding: int | None = None
) -> Array:
    """Return the same memory in another shape and ``dtype``; ``values`` has an axis of ranks before those of ``of``.

    The compiler widens what it exchanges to whole tiles. Padding of the old shape, which nothing says the contents of,
    is poison in the new one, so that whoever uses it has a wrong result; or bytes of the value ``padding``.
    """
    if not to.count:
        return np.zeros((len(values), *to.extents), dtype)
    new = _bytes(to, dtype.itemsize)
    poison = _POISON if dtype.kind in "iub" else _POISON_OF_FLOATS
    found = np.full((len(values), len(new)), poison if padding is None else padding, np.uint8)
    if of.count:
        old = _bytes(of, values.dtype.itemsize)
        order = np.argsort(old)
        at = np.minimum(np.searchsorted(old[order], new), len(old) - 1)
        known = old[order][at] == new
        memory = np.ascontiguousarray(values).reshape(len(values), -1).view(np.uint8)
        found[:, known] = memory[:, order[at[known]]]
    return (found.astype(bool) if dtype.kind == "b" else found.view(dtype)).reshape(len(values), *to.extents)


def _bytes(shape: Shape, size: int) -> Array:
    """Return where each byte of each element lies."""
    return np.asarray(positions(shape).reshape(-1, 1) * size + np.arange(size)).reshape(-1)
