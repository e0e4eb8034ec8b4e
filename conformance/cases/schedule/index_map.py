"""Index maps: which elements of a buffer a kernel's iteration points touch, and in which bytes they lie.

An extent is a number or an expression over variables (``extent``), so that a map does not depend on a variable's value.
"""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from conformance.cases.graph.extent import Dim, Values, evaluated, names_in, sizes

Indices = NDArray[np.int64]

P = TypeVar("P", bound=np.generic)


class Affine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Point ``index`` lies at ``offset + sum(index * strides) + sum(coefficient * variable)``, all in elements.

    ``variables`` are the coefficients of the offset, ``scales`` those of the strides, one for each axis; their keys are
    names or expressions: of rows of ``m`` elements the strides are ``(0, 1)`` and the scales ``{"m": (1, 0)}``.
    ``mask`` gives for every axis the indices ``[first, beyond)`` that lie anywhere at all; the others, as those a pad
    adds, touch nothing and read zero.
    """

    extents: tuple[Dim, ...]
    strides: tuple[int, ...]
    offset: int = 0
    variables: dict[str, int] = {}
    mask: tuple[tuple[Dim, Dim], ...] | None = None
    scales: dict[str, tuple[int, ...]] = {}


FEW: Final = 16
"""Ranges up to which they are joined one by one: NumPy takes longer to begin than to do it."""

IndexMap = tuple[Affine, ...]
"""One map, or a chain: what a map before the last gives counts the points of the next in row-major order."""


def contiguous(shape: tuple[int, ...], offset: int = 0) -> IndexMap:
    """Return the map of consecutive elements in row-major order."""
    strides, stride = [], 1
    for extent in reversed(shape):
        strides.append(stride)
        stride *= extent
    return (Affine(extents=shape, strides=tuple(reversed(strides)), offset=offset),)


def names(index_map: IndexMap) -> set[str]:
    """Return the variables a map speaks of."""
    return {name for affine in index_map for dim in _dims(affine) for name in names_in(dim)}


def _dims(affine: Affine) -> tuple[Dim, ...]:
    ends = tuple(end for pair in affine.mask or () for end in pair)
    return (*affine.variables, *affine.scales, *affine.extents, *ends)


def strides_of(affine: Affine, values: Values) -> tuple[int, ...]:
    """Return how far apart the elements of neighbouring points are along each axis."""
    found = list(affine.strides)
    for name, scale in affine.scales.items():
        found = [stride + factor * evaluated(name, values) for stride, factor in zip(found, scale, strict=True)]
    return tuple(found)


def bounds_of(affine: Affine, values: Values) -> tuple[tuple[int, int], ...]:
    """Return for every axis the indices that lie anywhere at all: those of the mask, within the extents."""
    shape = sizes(affine.extents, values)
    if affine.mask is None:
        return tuple((0, extent) for extent in shape)
    pairs = [sizes(pair, values) for pair in affine.mask]
    return tuple((max(low, 0), min(high, extent)) for (low, high), extent in zip(pairs, shape, strict=True))


def counted(affine: Affine, extents: tuple[int, ...]) -> tuple[int, ...]:
    """Return so many points along every axis: one where all of them lie at the same place, whatever the variables."""
    masks = affine.mask or tuple((0, extent) for extent in extents)
    still = [
        stride == 0 and pair == (0, extent) and not any(scale[axis] for scale in affine.scales.values())
        for axis, (stride, pair, extent) in enumerate(zip(affine.strides, masks, extents, strict=True))
    ]
    return tuple(min(extent, 1) if same else extent for extent, same in zip(extents, still, strict=True))


def elements(index_map: IndexMap, values: Values) -> tuple[Indices, NDArray[np.bool_]]:
    """Return the element of each point, in the shape of the first extents, and whether the point touches any.

    Both are to be read only: points that lie at the same place along all of an axis share memory (``once``). Where a
    chain leaves the points of its next map, the element is -1 and counts as touched: it is out of bounds.
    """
    shape = sizes(index_map[0].extents, values)
    found, valid = _affine(index_map[0], values, counted(index_map[0], shape))
    for affine in index_map[1:]:
        table, inner = _affine(affine, values, sizes(affine.extents, values))
        at = np.where((found >= 0) & (found < table.size), found, -1)
        found, valid = np.append(table, -1)[at], valid & np.append(inner, True)[at]
    if found.shape == shape:
        return found, valid
    return np.broadcast_to(found, shape), np.broadcast_to(valid, shape)


def once(points: NDArray[P]) -> NDArray[P]:
    """Return what is known of points without the repetitions along axes on which all of them share memory."""
    return points[tuple(slice(None) if stride else slice(0, 1) for stride in points.strides)]


def start_of(affine: Affine, values: Values) -> int:
    """Return the position of the first point."""
    return affine.offset + sum(coefficient * evaluated(name, values) for name, coefficient in affine.variables.items())


def _affine(affine: Affine, values: Values, shape: tuple[int, ...]) -> tuple[Indices, NDArray[np.bool_]]:
    """Return position and validity of each of the points of ``shape``."""
    bounds = [(low, min(high, most)) for (low, high), most in zip(bounds_of(affine, values), shape, strict=True)]
    found = np.full(shape, start_of(affine, values), np.int64)
    valid = np.ones(shape, np.bool_)
    for axis, (extent, stride) in enumerate(zip(shape, strides_of(affine, values), strict=True)):
        index = np.arange(extent, dtype=np.int64).reshape([-1 if a == axis else 1 for a in range(len(shape))])
        found += index * stride
        low, high = bounds[axis]
        if (low, high) != (0, extent):
            valid &= (index >= low) & (index < high)
    return found, valid
