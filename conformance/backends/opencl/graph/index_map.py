"""Movement as index maps: where the elements of a moved value lie in what it was moved from.

A map is that of the neutral form: a chain of affine maps, of which each gives the row-major number of a point of the
next. Movement appends a map, and neighbours are merged wherever one affine map says the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conformance.cases.schedule import index_map as neutral_map

COUNTED: Final = 2**12
"""Elements up to which it is counted whether two maps meet."""

Shape = tuple[int, ...]
Bounds = tuple[tuple[int, int], ...]


class Affine(NamedTuple):
    """Point ``index`` lies at ``offset + sum(index * strides)``, if each index is in its range of ``mask``."""

    extents: Shape
    strides: tuple[int, ...]
    offset: int = 0
    mask: Bounds | None = None


IndexMap = tuple[Affine, ...]
"""One map, or a chain: what a map before the last gives counts the points of the next in row-major order."""


def steps(shape: Shape) -> tuple[int, ...]:
    """Return the row-major strides of a shape."""
    found, stride = [], 1
    for extent in reversed(shape):
        found.append(stride)
        stride *= extent
    return tuple(reversed(found))


def shape_of(index_map: IndexMap) -> Shape:
    """Return the extents of the points that a map begins with."""
    return index_map[0].extents


@lru_cache(maxsize=2**14)
def bounds_of(affine: Affine) -> Bounds:
    """Return for every axis the indices that lie anywhere."""
    whole = tuple((0, extent) for extent in affine.extents)
    if affine.mask is None:
        return whole
    return tuple((max(low, 0), min(high, stop)) for (low, high), (_, stop) in zip(affine.mask, whole, strict=True))


@lru_cache(maxsize=2**14)
def names_nothing(chain: IndexMap) -> bool:
    """Return whether no point of a chain of maps leads to an element."""
    return any(low >= high for each in chain for low, high in bounds_of(each))


def affine(shape: Shape, strides: Sequence[int], offset: int = 0, mask: Bounds | None = None) -> Affine:
    """Return the map in the one form that equal maps have: no stride along one index, no mask that leaves out none."""
    kept = tuple(0 if extent == 1 else stride for extent, stride in zip(shape, strides, strict=True))
    if mask is not None and all(low <= 0 and high >= extent for (low, high), extent in zip(mask, shape, strict=True)):
        mask = None
    if mask is not None and 1 in shape:
        # A stride along the one index that is left may be anything; only that it lies somewhere matters.
        offset += sum(
            low * stride
            for extent, stride, (low, high) in zip(shape, strides, mask, strict=True)
            if extent == 1 and high > low
        )
    return Affine(extents=shape, strides=kept, offset=offset, mask=mask)


@lru_cache(maxsize=2**12)
def in_order(shape: Shape) -> Affine:
    """Return the map that gives each point its own number."""
    return affine(shape, steps(shape))


def identity(shape: Shape) -> IndexMap:
    """Return the map of all elements in order."""
    return (in_order(shape),)


@lru_cache(maxsize=2**14)
def then(index_map: IndexMap, last: Affine) -> IndexMap:
    """Return the map whose elements are the points of ``last``."""
    if _counts(last):
        return index_map
    merged = _merged(index_map[-1], _coalesced(last))
    if merged is None:
        return (*index_map, last)
    return then(index_map[:-1], merged) if len(index_map) > 1 else (merged,)


def composed(first: IndexMap, second: IndexMap) -> IndexMap:
    """Return the map by ``first`` and then by ``second``."""
    for each in second:
        first = then(first, each)
    return first


def _counts(last: Affine) -> bool:
    """Return whether a map gives each point its own number."""
    return last == in_order(last.extents)


def _coalesced(one: Affine) -> Affine:
    """Return the same map with neighbouring axes joined where they are one run; its points keep their numbers."""
    shape: list[int] = []
    strides: list[int] = []
    mask: list[tuple[int, int]] = []
    for extent, stride, bound in zip(one.extents, one.strides, bounds_of(one), strict=True):
        if extent == 1 and bound == (0, 1):
            continue
        full = bound == (0, extent)
        if shape and strides[-1] == stride * extent and full:
            # An outer axis with a mask stays a range of whole rows.
            low, high = mask[-1]
            shape[-1], strides[-1], mask[-1] = shape[-1] * extent, stride, (low * extent, high * extent)
            continue
        shape.append(extent)
        strides.append(stride)
        mask.append(bound)
    return affine(tuple(shape), strides, one.offset, tuple(mask))


def _merged(first: Affine, second: Affine) -> Affine | None:
    """Return one map for two, or ``None`` where a step along an axis of the first carries over in the second."""
    bounds = bounds_of(first)
    counts = [high - low for low, high in bounds]
    if not counts or min(counts) > 0:
        base = first.offset + sum(low * stride for (low, _), stride in zip(bounds, first.strides, strict=True))
    else:
        return affine(shape_of((first,)), [0] * len(counts), 0, bounds)
    shape = second.extents
    if not 0 <= base < math.prod(shape):
        return None
    at = _digits(base, shape)
    moves = [
        _digits(stride, shape) if count > 1 else (0,) * len(shape)
        for stride, count in zip(first.strides, counts, strict=True)
    ]
    taken = list(bounds)
    for axis, extent in enumerate(shape):
        reach = [move[axis] * (count - 1) for move, count in zip(moves, counts, strict=True)]
        if at[axis] + sum(min(0, each) for each in reach) < 0 or at[axis] + sum(max(0, e) for e in reach) >= extent:
            return None
    for axis, (low, high) in enumerate(bounds_of(second)):
        reach = [move[axis] * (count - 1) for move, count in zip(moves, counts, strict=True)]
        lowest, highest = at[axis] + sum(min(0, e) for e in reach), at[axis] + sum(max(0, e) for e in reach)
        if lowest >= low and highest < high:
            continue
        if (lowest >= high or highest < low) and counts:
            return affine(shape_of((first,)), [0] * len(counts), 0, ((0, 0),) * len(counts))
        moving = [number for number, move in enumerate(moves) if move[axis] and counts[number] > 1]
        if len(moving) != 1:
            return None
        number, step = moving[0], moves[moving[0]][axis]
        begin = bounds[number][0]
        if step > 0:
            inside = -(-(low - at[axis]) // step), -(-(high - at[axis]) // step)
        else:
            inside = (at[axis] - high) // -step + 1, (at[axis] - low) // -step + 1
        now = max(taken[number][0], begin + inside[0]), min(taken[number][1], begin + inside[1])
        taken[number] = now if now[0] < now[1] else (0, 0)
    strides = [sum(q * s for q, s in zip(move, second.strides, strict=True)) for move in moves]
    offset = second.offset + sum(digit * stride for digit, stride in zip(at, second.strides, strict=True))
    offset -= sum(low * stride for (low, _), stride in zip(bounds, strides, strict=True))
    return affine(shape_of((first,)), strides, offset, tuple(taken))


def _digits(number: int, shape: Shape) -> tuple[int, ...]:
    """Return a number of a point, or a distance, as one index for each axis."""
    sign, left = (-1 if number < 0 else 1), abs(number)
    found = []
    for extent, step in zip(shape, steps(shape), strict=True):
        digit = left // step if extent > 1 else 0
        found.append(sign * digit)
        left -= digit * step
    return tuple(found)


def widened(index_map: IndexMap, inner: Shape) -> IndexMap:
    """Return the map of each point together with a point of ``inner``, which counts fastest."""
    count = math.prod(inner)
    found: IndexMap = ()
    for each in index_map:
        shape = (*each.extents, *inner)
        mask = None if each.mask is None else (*each.mask, *((0, extent) for extent in inner))
        one = affine(shape, (*(s * count for s in each.strides), *steps(inner)), each.offset * count, mask)
        found = (*found, one)
    return found


def permuted(shape: Shape, axes: Sequence[int]) -> Affine:
    """Return the map of a value of ``shape`` with its axes in another order."""
    every = steps(shape)
    return affine(tuple(shape[axis] for axis in axes), [every[axis] for axis in axes])


def spread(shape: Shape, wide: Shape) -> Affine:
    """Return the map of a value of ``shape`` repeated along axes of extent 1."""
    return affine(wide, [0 if old != new else step for old, new, step in zip(shape, wide, steps(shape), strict=True)])


def windowed(shape: Shape, parts: Sequence[range]) -> Affine:
    """Return the map of the indices ``parts`` of every axis; a range that leaves the value is masked there."""
    every = steps(shape)
    strides = [part.step * step for part, step in zip(parts, every, strict=True)]
    offset = sum(part.start * step for part, step in zip(parts, every, strict=True))
    mask = tuple(
        (0, len(part)) if part.step != 1 else (max(0, -part.start), max(0, min(len(part), extent - part.start)))
        for part, extent in zip(parts, shape, strict=True)
    )
    return affine(tuple(len(part) for part in parts), strides, offset, mask)


def over(index_map: IndexMap, axes: Sequence[int], extents: Shape) -> IndexMap:
    """Return a map over ``axes`` as one over all the axes of ``extents``, most of which move nothing."""
    first, *rest = index_map
    strides, mask = [0] * len(extents), [(0, extent) for extent in extents]
    for axis, stride, bound in zip(axes, first.strides, bounds_of(first), strict=True):
        strides[axis], mask[axis] = stride, bound
    return (affine(extents, strides, first.offset, None if first.mask is None else tuple(mask)), *rest)


def apart(one: IndexMap, others: Sequence[IndexMap]) -> bool:
    """Return whether no element is one of both; what is too large to count may be."""
    if max(math.prod(each[0].extents) for each in (one, *others)) > COUNTED:
        return False
    found, *taken = ({*_elements(each)} for each in (one, *others))
    return found.isdisjoint(set().union(*taken))


def _elements(index_map: IndexMap) -> list[int]:
    at, valid = elements(index_map)
    return [int(each) for each in at[valid].reshape(-1)]


def elements(index_map: IndexMap) -> tuple[neutral_map.Indices, NDArray[np.bool_]]:
    """Return the elements that the points of a map lie at, and which of the points lie anywhere."""
    neutral = tuple(
        neutral_map.Affine(extents=each.extents, strides=each.strides, offset=each.offset, mask=each.mask)
        for each in index_map
    )
    return neutral_map.elements(neutral, {})
