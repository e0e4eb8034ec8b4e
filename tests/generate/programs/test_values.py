"""Order-free data is order-free: any order and any association gives the same bits."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cases.tensor.dtypes import DRAWN, Array, kind, logical
from conformance.generate.calls.reductions import EXACT_TERMS, MOST_TERMS
from conformance.generate.calls.values import counting, pool
from conformance.reference.reductions import REDUCTIONS, check, fold
from conformance.reference.rejection import Rejected

POOLS = [(op, op) for op in REDUCTIONS] + [("max", "with_nan"), ("min", "with_nan")]


def accepted(dtype: str, op: str) -> bool:
    try:
        check(dtype, op)
    except Rejected:
        return False
    return True


def tree(parts: list[Array], op: str) -> Array:
    """Reduce neighbours, then neighbours of the results, until one is left."""
    while len(parts) > 1:
        parts = [fold(parts[i : i + 2], op) for i in range(0, len(parts), 2)]
    return parts[0]


def bits(block: Array) -> bytes:
    """Return the bits of ``block`` with every NaN the same: a reduction makes some NaN, not a particular one."""
    return (
        np.where(np.isnan(block), np.array(np.nan, block.dtype), block).tobytes() if has_nan(block) else block.tobytes()
    )


def has_nan(block: Array) -> bool:
    return kind(logical(block.dtype)) in ("float", "complex") and bool(np.isnan(block).any())


@pytest.mark.parametrize(
    ("dtype", "op", "values"), [(d, *pair) for d in DRAWN for pair in POOLS if accepted(d, pair[0])]
)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(data=st.data())
def test_a_shuffled_pairwise_tree_equals_the_fold(dtype: str, op: str, values: str, data: st.DataObject) -> None:
    everything = np.concatenate([pool(dtype, values), counting(dtype, values)])
    picks = data.draw(st.lists(st.sampled_from(range(len(everything))), min_size=2, max_size=EXACT_TERMS))
    factor = data.draw(st.sampled_from([0.5, 1.0, 2.0])) if op == "premul_sum" else 1.0
    blocks = [everything[pick : pick + 1] for pick in picks]
    scaled = [fold([block], op, factor) for block in data.draw(st.permutations(blocks))]
    inner = "sum" if op in ("mean", "premul_sum") else op
    whole = tree(
        scaled if op == "premul_sum" else [block.astype(fold([block], inner).dtype) for block in blocks], inner
    )
    assert bits(fold(blocks, inner if op == "mean" else op, factor)) == bits(whole)


@pytest.mark.parametrize(
    "dtype", [name for name in DRAWN if kind(name) in ("float", "complex") and "float8" not in name]
)
@pytest.mark.parametrize("op", ["sum", "mean", "premul_sum", "product"])
@pytest.mark.parametrize("seed", range(3))
def test_the_local_pool_is_order_free_for_as_many_terms_as_it_is_used_for(dtype: str, op: str, seed: int) -> None:
    if op == "product" and kind(dtype) == "complex":
        return  # the domain drops local axes there
    rng = np.random.default_rng(seed)
    values = pool(dtype, "local")
    blocks = [values[pick : pick + 1] for pick in rng.integers(0, len(values) if seed else 1, MOST_TERMS)]
    inner = "product" if op == "product" else "sum"
    scaled = [fold([block], "premul_sum", 0.5) for block in blocks] if op == "premul_sum" else blocks
    shuffled = [scaled[i] for i in rng.permutation(MOST_TERMS)]
    assert fold(scaled, inner).tobytes() == tree(shuffled, inner).tobytes()


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
