"""Sets of numbers as sorted, disjoint half-open ranges, one a row."""

from __future__ import annotations

from typing import Final

import numpy as np

from conformance.cases.index_map import Indices, merged

NOTHING: Final[Indices] = np.zeros((0, 2), np.int64)


def joined(first: Indices, second: Indices) -> Indices:
    """Return the numbers in either."""
    return merged(np.concatenate([first, second])) if len(first) and len(second) else second if len(second) else first


def common(first: Indices, second: Indices) -> Indices:
    """Return the numbers in both."""
    return without(first, without(first, second))


def size(ranges: Indices) -> int:
    """Return how many numbers there are."""
    return int((ranges[:, 1] - ranges[:, 0]).sum())


def overlap(first: Indices, second: Indices) -> bool:
    """Return whether two sets of sorted, disjoint ranges have a number in common."""
    if not len(first) or not len(second) or first[0, 0] >= second[-1, 1] or second[0, 0] >= first[-1, 1]:
        return False
    at = np.searchsorted(second[:, 1], first[:, 0], side="right")
    inside = at < len(second)
    return bool(np.any(second[at[inside], 0] < first[inside, 1]))


def without(ranges: Indices, taken: Indices) -> Indices:
    """Return what is left of ``ranges`` without those of ``taken``; both sorted and disjoint."""
    left = []
    for first, stop in ranges:
        start = first
        at = int(np.searchsorted(taken[:, 1], start, side="right")) if len(taken) else 0
        while at < len(taken) and taken[at, 0] < stop:
            if taken[at, 0] > start:
                left.append((start, taken[at, 0]))
            start = max(start, taken[at, 1])
            at += 1
        if start < stop:
            left.append((start, stop))
    return np.array(left, np.int64).reshape(-1, 2)
