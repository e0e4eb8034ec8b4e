"""Means whose count is no number of their dtype, reductions of nothing, and which of two zeros is the greater."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
import pytest

from conformance.cases.tensor.dtypes import NUMPY, Array, cleared, kind
from conformance.judging.numbers.precision import exactly, precision
from conformance.reference.graph.conversion import cast
from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.reductions import REDUCTIONS, fold, greatest, least, narrowed

NARROW = ("float8_e5m2", "float8_e4m3fn", "bfloat16", "float16")


def numbers(dtype: str) -> Array:
    """Return every finite number of a float of 8 bits, and many of the others."""
    codes = np.arange(0, 1 << 8 * NUMPY[dtype].itemsize, 1 if NUMPY[dtype].itemsize == 1 else 61)
    found = codes.astype(f"u{NUMPY[dtype].itemsize}").view(NUMPY[dtype])
    return found[np.isfinite(found.astype(np.float32))]


@pytest.mark.parametrize(("dtype", "count"), [*zip(NARROW, (9, 21, 273, 2049), strict=True)])
def test_c10_a_mean_divides_by_a_count_that_the_dtype_does_not_hold(dtype: str, count: int) -> None:
    terms = [numbers(dtype), *[np.zeros_like(numbers(dtype))] * (count - 1)]
    assert Fraction(float(np.array(count, NUMPY[dtype]))) != count
    wanted = [precision(dtype).rounded(Fraction(float(number)) / count) for number in terms[0]]
    assert [exactly(number) for number in fold(terms, "mean")] == wanted


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_integers_become_floats_of_few_bits_by_one_rounding(dtype: str) -> None:
    bits = 8 * NUMPY[dtype].itemsize - 1
    # Ties of eight digits, of both parities, and what is next to them.
    ties = [(2 * odd + 1) << place for odd in (128, 129, 200) for place in range(bits - 8)]
    wanted = [number + by for number in ties for by in (-1, 0, 1)]
    found = cast(np.array(wanted, object).astype(NUMPY[dtype]), "bfloat16")
    assert [exactly(number) for number in found] == [precision("bfloat16").rounded(Fraction(each)) for each in wanted]


@pytest.mark.parametrize("dtype", NARROW)
def test_what_is_narrowed_is_rounded_once(dtype: str) -> None:
    held = np.unique(np.abs(numbers(dtype).astype(np.float64)))
    ties = (held[1:] + held[:-1]) / 2
    near = np.concatenate([ties, np.nextafter(ties, 0), np.nextafter(ties, np.inf)])
    wanted = [precision(dtype).rounded(Fraction(number)) for number in near]
    assert [exactly(number) for number in narrowed(near, NUMPY[dtype])] == wanted


def test_all_reduce_c5_nothing_reduces_to_what_changes_nothing() -> None:
    wanted = {"sum": 0, "product": 1, "max": -math.inf, "min": math.inf, "premul_sum": 0}
    for op, value in wanted.items():
        made = all_reduce([np.ones((2, 0, 3), np.float32)] * 2, op=op, local_axes=(1,), groups=((0,), (1,)))
        assert made[1].tolist() == [[value] * 3] * 2
    mean = all_reduce([np.ones((0, 2), np.int8)] * 2, op="mean", local_axes=(0,), groups=((0, 1),))[0]
    assert mean.dtype == np.float64
    assert np.isnan(mean).all()


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "float8_e5m2"])
def test_of_two_zeros_the_negative_one_is_the_lesser(dtype: str) -> None:
    zeros = np.array([0.0, 0.0, -0.0, -0.0, -0.0, 1.0, -1.0], NUMPY[dtype])
    others = np.array([0.0, -0.0, 0.0, -0.0, math.nan, -0.0, -0.0], NUMPY[dtype])
    for held, with_ in ((zeros, others), (others, zeros)):
        with np.errstate(invalid="ignore"):
            most, fewest = greatest(held, with_), least(held, with_)
        assert (most.dtype, fewest.dtype) == (held.dtype, held.dtype)
        assert np.signbit(most[[0, 1, 2, 3, 6]]).tolist() == [False, False, False, True, True]
        assert np.signbit(fewest[[0, 1, 2, 3, 5]]).tolist() == [False, True, True, True, True]
        assert np.isnan(most[4])
        assert np.isnan(fewest[4])


@pytest.mark.parametrize("dtype", [name for name in NUMPY if kind(name) != "complex"])
@pytest.mark.parametrize("op", ["max", "min"])
def test_the_greatest_of_many_has_the_bits_of_a_fold_from_the_left(dtype: str, op: str) -> None:
    drawn, size = np.random.default_rng(0), NUMPY[dtype].itemsize
    for count in (1, 2, 3, 17, 64):
        bits = drawn.integers(0, 2 if kind(dtype) == "bool" else 256, (count, 40, size), np.uint8)
        # Zeros of both signs beside NaNs of any payload.
        bits[:, :10, :-1], bits[:, :10, -1] = 0, bits[:, :10, -1] & (0 if kind(dtype) == "bool" else 0x80)
        blocks = list(cleared(bits.reshape(-1).view(NUMPY[dtype]).reshape(count, 40)))
        with np.errstate(all="ignore"):
            wanted = functools.reduce(REDUCTIONS[op], blocks)
        assert fold(blocks, op).tobytes() == np.asarray(wanted, NUMPY[dtype]).tobytes()
