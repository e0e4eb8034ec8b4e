"""A scan by its laws: prefixes, their relation to all_reduce, and the two forms to each other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.operations.scan import scan
from conformance.reference.reductions import REDUCTIONS

GROUPS = ((3, 0), (4, 1, 2))
BLOCKS = [np.array([rank - 2, 3 * rank, 7], np.int32) for rank in range(5)]


@pytest.mark.parametrize("op", sorted(set(REDUCTIONS) - {"premul_sum", "mean"}))
def test_the_last_member_has_the_reduction_of_the_group(op: str) -> None:
    scanned = scan(BLOCKS, op=op, exclusive=False, groups=GROUPS)
    reduced = all_reduce(BLOCKS, op=op, groups=GROUPS)
    assert all(np.array_equal(scanned[group[-1]], reduced[group[-1]]) for group in GROUPS)


def test_the_exclusive_form_is_the_inclusive_one_a_member_later() -> None:
    inclusive = scan(BLOCKS, op="sum", exclusive=False, groups=GROUPS)
    exclusive = scan(BLOCKS, op="sum", exclusive=True, groups=GROUPS)
    for group in GROUPS:
        assert exclusive[group[0]].tolist() == [0, 0, 0]
        assert all(np.array_equal(exclusive[b], inclusive[a]) for a, b in pairwise(group))
