"""Sets of numbers as sorted, disjoint half-open ranges, one a row."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from conformance.cases.schedule.index_map import FEW, Indices
from conformance.cases.schedule.runs import as_ranges, distinct, joined_rows, merged

NOTHING: Final[Indices] = np.zeros((0, 2), np.int64)


def joined(first: Indices, second: Indices) -> Indices:
    """Return the numbers in either."""
    return merged(np.concatenate([first, second])) if len(first) and len(second) else second if len(second) else first


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


def common(first: Indices, second: Indices) -> Indices:
    """Return the numbers in both."""
    if len(first) + len(second) <= FEW:
        return _few(first, second, both=True)
    pieces = _pieces(first, second)
    return merged(pieces[_within(pieces, first) & _within(pieces, second)])


def without(ranges: Indices, taken: Indices) -> Indices:
    """Return the numbers of ``ranges`` that are not in ``taken``."""
    if len(ranges) + len(taken) <= FEW:
        return _few(ranges, taken, both=False)
    pieces = _pieces(ranges, taken)
    return merged(pieces[_within(pieces, ranges) & ~_within(pieces, taken)])


def _few(ranges: Indices, others: Indices, *, both: bool) -> Indices:
    """Return the numbers of a few ranges that are in ``others`` too, or those that are not."""
    found: list[list[int]] = []
    beside = others.tolist()
    for start, stop in ranges.tolist():
        at = start
        for low, high in beside:
            if low < stop and high > at:
                found.append([max(at, low), min(stop, high)] if both else [at, low])
                at = min(stop, high)
        if not both:
            found.append([at, stop])
    return as_ranges(joined_rows(found))


def _pieces(first: Indices, second: Indices) -> Indices:
    """Return the ranges between all ends, of which each is in a set as a whole or not at all."""
    ends = distinct(np.concatenate([first.reshape(-1), second.reshape(-1)]))
    return np.stack([ends[:-1], ends[1:]], axis=-1)


def _within(pieces: Indices, ranges: Indices) -> NDArray[np.bool_]:
    at = np.searchsorted(ranges[:, 0], pieces[:, 0], side="right") - 1
    found = at >= 0
    found[found] = pieces[found, 0] < ranges[at[found], 1]
    return found
