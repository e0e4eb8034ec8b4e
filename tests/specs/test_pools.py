"""Order-free data is order-free: any order and any association of eight values gives the same bits."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cases.dtypes import NUMPY
from conformance.reference.reductions import check, fold
from conformance.reference.rejected import Rejected
from conformance.specs.pools import counting, pool


@pytest.mark.parametrize("dtype", NUMPY)
@pytest.mark.parametrize("op", ["sum", "product", "max", "min", "and", "or", "xor"])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_a_shuffled_pairwise_tree_equals_the_fold(dtype: str, op: str, data: st.DataObject) -> None:
    try:
        check(dtype, op)
    except Rejected:
        return
    values = np.concatenate([pool(dtype, op), counting(dtype, op)])
    picks = data.draw(st.lists(st.sampled_from(range(len(values))), min_size=2, max_size=8))
    blocks = [values[pick : pick + 1] for pick in picks]
    shuffled = data.draw(st.permutations(blocks))
    while len(shuffled) > 1:
        shuffled = [fold(shuffled[i : i + 2], op) for i in range(0, len(shuffled), 2)]
    assert fold(blocks, op).tobytes() == fold(shuffled, op).tobytes()


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
def test_floats_for_movement_hold_nan_payloads_and_both_zeros(dtype: str) -> None:
    values = pool(dtype, "any")
    payloads = {value.tobytes() for value in values[np.isnan(values)]}
    zeros = {bool(np.signbit(value)) for value in values if value == 0}
    assert (len(payloads), zeros) == (2, {False, True})


def test_counting_never_repeats_a_neighbour() -> None:
    for dtype in ("int32", "bfloat16", "float32"):
        values = counting(dtype, "any")
        assert functools.reduce(bool.__and__, (values[1:] != values[:-1]).tolist())
