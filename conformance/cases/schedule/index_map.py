"""Index maps: which elements of a buffer a kernel's iteration points touch, and in which bytes they lie.

An extent is a number or the name of a variable, so that a map does not depend on a variable's value.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

Dim = int | str
Indices = NDArray[np.int64]
Values = Mapping[str, int]
"""What the variables stand for."""


class Affine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Point ``index`` lies at ``offset + sum(index * strides) + sum(coefficient * variable)``, all in elements.

    ``mask`` gives for every axis the indices ``[first, beyond)`` that lie anywhere at all; the others, as those a pad
    adds, touch nothing and read zero.
    """

    extents: tuple[Dim, ...]
    strides: tuple[int, ...]
    offset: int = 0
    variables: dict[str, int] = {}
    mask: tuple[tuple[int, int], ...] | None = None


IndexMap = tuple[Affine, ...]
"""One map, or a chain: what a map before the last gives counts the points of the next in row-major order."""


def contiguous(shape: tuple[int, ...], offset: int = 0) -> IndexMap:
    """Return the map of consecutive elements in row-major order."""
    strides, stride = [], 1
    for extent in reversed(shape):
        strides.append(stride)
        stride *= extent
    return (Affine(extents=shape, strides=tuple(reversed(strides)), offset=offset),)


def sizes(extents: tuple[Dim, ...], values: Values) -> tuple[int, ...]:
    """Return the extents as numbers; raise ``KeyError`` for a variable without a value."""
    return tuple(values[extent] if isinstance(extent, str) else extent for extent in extents)


def names(index_map: IndexMap) -> set[str]:
    """Return the variables a map speaks of."""
    return {name for affine in index_map for name in (*affine.variables, *affine.extents) if isinstance(name, str)}


def elements(index_map: IndexMap, values: Values) -> tuple[Indices, NDArray[np.bool_]]:
    """Return the element of each point, in the shape of the first extents, and whether the point touches any.

    Where a chain leaves the points of its next map, the element is -1 and counts as touched: it is out of bounds.
    """
    found, valid = _affine(index_map[0], values)
    for affine in index_map[1:]:
        table, inner = _affine(affine, values)
        at = np.where((found >= 0) & (found < table.size), found, -1)
        found, valid = np.append(table, -1)[at], valid & np.append(inner, True)[at]
    return found, valid


def runs(index_map: IndexMap, values: Values) -> Indices:
    """Return the elements touched as sorted, disjoint half-open ranges: an array of shape (ranges, 2)."""
    if len(index_map) > 1:
        found, valid = elements(index_map, values)
        touched = distinct(found[valid])
        return merged(np.stack([touched, touched + 1], axis=-1))
    affine = index_map[0]
    first, axes = _start(affine, values), []
    bounds = affine.mask or tuple((0, extent) for extent in sizes(affine.extents, values))
    for (low, high), stride, extent in zip(bounds, affine.strides, sizes(affine.extents, values), strict=True):
        count = min(high, extent) - max(low, 0)
        if count <= 0:
            return np.zeros((0, 2), np.int64)
        first += max(low, 0) * stride + min(0, (count - 1) * stride)
        if count > 1 and stride:
            axes.append((abs(stride), count))
    length = 1
    for stride, count in sorted(axes):
        if stride > length:
            break
        length = stride * (count - 1) + length
        axes.remove((stride, count))
    starts = np.array([first], np.int64)
    for stride, count in sorted(axes, reverse=True):
        starts = (starts[:, None] + stride * np.arange(count, dtype=np.int64)).reshape(-1)
    return merged(np.stack([starts, starts + length], axis=-1))


def merged(ranges: Indices) -> Indices:
    """Return half-open ranges, one a row, sorted and joined where they touch; the empty ones are gone."""
    ranges = ranges[ranges[:, 0] < ranges[:, 1]]
    if len(ranges) < 2:
        return ranges
    ranges = ranges[np.argsort(ranges[:, 0], kind="stable")]
    reach = np.maximum.accumulate(ranges[:, 1])
    fresh = np.concatenate([[True], ranges[1:, 0] > reach[:-1]])
    last = np.concatenate([np.flatnonzero(fresh)[1:] - 1, [len(ranges) - 1]])
    return np.stack([ranges[fresh, 0], reach[last]], axis=-1)


def distinct(numbers: Indices) -> Indices:
    """Return the numbers in order, each once.

    ``np.unique`` hashes, and takes a hundred times as long for two million of them (NumPy 2.4.6).
    """
    numbers = np.sort(numbers, axis=None)
    return numbers[np.concatenate([[True], numbers[1:] != numbers[:-1]])] if len(numbers) else numbers


def _start(affine: Affine, values: Values) -> int:
    return affine.offset + sum(coefficient * values[name] for name, coefficient in affine.variables.items())


def _affine(affine: Affine, values: Values) -> tuple[Indices, NDArray[np.bool_]]:
    """Return position and validity of each point."""
    shape = sizes(affine.extents, values)
    found = np.full(shape, _start(affine, values), np.int64)
    valid = np.ones(shape, np.bool_)
    for axis, (extent, stride) in enumerate(zip(shape, affine.strides, strict=True)):
        index = np.arange(extent, dtype=np.int64).reshape([-1 if a == axis else 1 for a in range(len(shape))])
        found += index * stride
        if affine.mask is not None:
            low, high = affine.mask[axis]
            valid &= (index >= low) & (index < high)
    return found, valid
