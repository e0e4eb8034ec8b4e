"""Runs of elements and ranges of bytes that index maps touch."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from conformance.cases.graph.extent import Values
from conformance.cases.schedule.index_map import FEW, IndexMap, Indices, bounds_of, elements, once, start_of, strides_of


def runs(index_map: IndexMap, values: Values) -> Indices:
    """Return the elements touched as sorted, disjoint half-open ranges: an array of shape (ranges, 2)."""
    if len(index_map) > 1:
        found, valid = np.broadcast_arrays(*map(once, elements(index_map, values)))
        touched = distinct(found[valid])
        return merged(np.stack([touched, touched + 1], axis=-1))
    affine = index_map[0]
    first, axes = start_of(affine, values), []
    for (low, high), stride in zip(bounds_of(affine, values), strides_of(affine, values), strict=True):
        count = high - low
        if count <= 0:
            return np.zeros((0, 2), np.int64)
        first += low * stride + min(0, (count - 1) * stride)
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
    if len(ranges) <= FEW:
        return as_ranges(joined_rows(ranges.tolist()))
    ranges = ranges[ranges[:, 0] < ranges[:, 1]]
    if len(ranges) < 2:
        return ranges
    ranges = ranges[np.argsort(ranges[:, 0], kind="stable")]
    reach = np.maximum.accumulate(ranges[:, 1])
    fresh = np.concatenate([[True], ranges[1:, 0] > reach[:-1]])
    last = np.concatenate([np.flatnonzero(fresh)[1:] - 1, [len(ranges) - 1]])
    return np.stack([ranges[fresh, 0], reach[last]], axis=-1)


def joined_rows(rows: Iterable[list[int]]) -> list[list[int]]:
    """Return a few half-open ranges sorted and joined where they touch; the empty ones are gone."""
    found: list[list[int]] = []
    for start, stop in sorted(row for row in rows if row[0] < row[1]):
        if found and start <= found[-1][1]:
            found[-1][1] = max(stop, found[-1][1])
        else:
            found.append([start, stop])
    return found


def as_ranges(rows: list[list[int]]) -> Indices:
    """Return ranges, one a row, as an array of shape (ranges, 2)."""
    return np.array(rows, np.int64).reshape(-1, 2)


def distinct(numbers: Indices) -> Indices:
    """Return the numbers in order, each once.

    ``np.unique`` hashes, and takes a hundred times as long for two million of them (NumPy 2.4.6).
    """
    numbers = np.sort(numbers, axis=None)
    return numbers[np.concatenate([[True], numbers[1:] != numbers[:-1]])] if len(numbers) else numbers
