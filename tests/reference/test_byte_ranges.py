"""Sets of numbers as ranges: few are joined one by one and many by NumPy, to the same."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from conformance.cases.schedule.index_map import FEW, Indices
from conformance.cases.schedule.runs import merged
from conformance.reference.byte_ranges import common, joined, without


def some(random: Random, count: int) -> tuple[Indices, set[int]]:
    """Return ranges in any order, which may share numbers, be empty or touch, and the numbers in them."""
    rows = [(start, start + random.randint(-1, 5)) for start in (random.randint(0, 60) for _ in range(count))]
    return np.array(rows, np.int64).reshape(-1, 2), {number for row in rows for number in range(*row)}


def numbers(ranges: Indices) -> set[int]:
    """Return the numbers of ranges that are sorted, not empty, and apart."""
    flat = ranges.reshape(-1)
    assert (flat[1:] > flat[:-1]).all()
    return {number for start, stop in ranges.tolist() for number in range(start, stop)}


@pytest.mark.parametrize("count", [0, 1, 3, FEW // 2, FEW, 2 * FEW])
def test_ranges_are_the_sets_of_their_numbers(count: int) -> None:
    random = Random(count)
    for _ in range(200):
        (first, one), (second, other) = some(random, count), some(random, random.randint(0, count))
        assert numbers(merged(first)) == one
        left, right = merged(first), merged(second)
        assert numbers(common(left, right)) == one & other
        assert numbers(without(left, right)) == one - other
        assert numbers(joined(left, right)) == one | other
