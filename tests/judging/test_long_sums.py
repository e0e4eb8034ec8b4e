"""Sums of any length have bounds, and no right result of any order or of a wider accumulator is outside them."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.reference.graph.long_sums import long_sums
from tests.judging.test_graph_freedom import blamed, node

TERMS = np.array([2048, *[1] * 1000], np.float16)


def given(value: float, terms: Array = TERMS, dtype: str = "float16") -> str:
    summed = node("y", "reduce", "x", dtype=dtype, shape=(), arg=(0,), fold="add")
    return blamed(np.array(value, NUMPY[dtype]), summed, x=terms)


@pytest.mark.parametrize("value", [1500, 2040, 4200, float("inf")])
def test_graph_c13_a_long_sum_that_no_order_gives(value: float) -> None:
    assert given(value).startswith("graph.")


@pytest.mark.parametrize("value", [2048, 2560, 3048])
def test_graph_c13_a_long_sum_that_some_order_gives(value: float) -> None:
    assert given(value) == ""


MOVED = {
    "reshaped": [node("z", "reshape", "y", dtype="float16", shape=(1,))],
    "padded": [
        node("w", "reshape", "y", dtype="float16", shape=(1,)),
        node("z", "pad", "w", dtype="float16", shape=(2,), arg=((0, 1),)),
    ],
    "taken": [
        node("w", "reshape", "y", dtype="float16", shape=(1,)),
        node("z", "gather", "w", "at", dtype="float16", shape=(1,), arg=0),
    ],
    "stored": [node("z", "assign", "home", "y", dtype="float16", shape=())],
}


@pytest.mark.parametrize("way", MOVED)
def test_graph_c13_a_long_sum_that_is_moved(way: str) -> None:
    summed = node("y", "reduce", "x", dtype="float16", shape=(), arg=(0,), fold="add")
    buffers = {"x": TERMS, "at": np.zeros(1, np.int32), "home": np.array(0, np.float16)}
    *_, last = MOVED[way]
    for value, right in ((2560, True), (4200, False)):
        made = np.zeros(last.shape, np.float16)
        made.reshape(-1)[0] = value
        assert (blamed(made, summed, *MOVED[way], **buffers) == "") == right


def any_order(terms: Array, source: np.random.Generator, wide: str) -> Array:
    """Return the sum by a random tree, some of whose nodes are kept in a wider dtype."""
    left = [np.asarray(each) for each in terms]
    with np.errstate(all="ignore"):
        while len(left) > 1:
            shape = source.integers(3)
            at, other = (
                sorted(source.choice(len(left), 2, replace=False)) if shape == 0 else (0, 1 if shape == 1 else -1)
            )
            kept = NUMPY[wide] if source.random() < 0.3 else terms.dtype
            one, two = left[at], left.pop(other)
            left[at] = np.asarray((one.astype(np.float64) + two.astype(np.float64)).astype(kept))
        return left[0].astype(terms.dtype)


@pytest.mark.parametrize(("dtype", "wide"), [
    ("float16", "float32"), ("bfloat16", "float32"), ("float8_e4m3fn", "float16"), ("float8_e5m2", "float32"),
])  # fmt: skip
def test_any_order_is_within_the_ends(dtype: str, wide: str) -> None:
    source = np.random.default_rng(5)
    for _ in range(40):
        count, spread = int(source.integers(2, 120)), float(source.choice([0.0, 2.0, 4.0]))
        drawn = source.normal(size=count) * np.exp2(source.normal(size=count) * spread)
        terms = (np.abs(drawn) if source.random() < 0.4 else drawn).clip(-200, 200).astype(NUMPY[dtype])
        found = long_sums(terms, (0,))
        assert found is not None
        low, high = (float(each) for each in found)
        for _ in range(6):
            total = float(any_order(terms, source, wide))
            assert not np.isfinite(low) or low <= total <= high


@pytest.mark.parametrize(("dtype", "most"), [
    ("float16", 40), ("bfloat16", 41), ("float8_e4m3fn", 96), ("float8_e5m2", 336),
])  # fmt: skip
def test_ends_say_something_of_long_sums_in_every_narrow_format(dtype: str, most: float) -> None:
    found = long_sums(np.ones(40, NUMPY[dtype]), (0,))
    assert found is not None
    assert np.isfinite(found[0])
    assert found[1] < most + 1e-6
