"""The a-priori bound: no admissible computation leaves it, and it is computed without rounding."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conformance.cases.tensor.dtypes import NUMPY
from conformance.judging.numbers.column import column
from conformance.judging.numbers.precision import precision
from tests.judging.numbers.drawn import FACTOR, REALS, columns, error, rounded_tree, tree

OPS = pytest.mark.parametrize("op", ["sum", "mean", "premul_sum", "product"])
DRAWN = settings(max_examples=150, deadline=None, derandomize=True)


@OPS
@DRAWN
@given(data=st.data())
def test_no_tree_leaves_the_bound(op: str, data: st.DataObject) -> None:
    terms = data.draw(columns(op))
    value = rounded_tree(data, terms)
    assume(value is not None)
    assert all(far <= most for far, most in zip(error(terms, value), terms.bound, strict=True))


@DRAWN
@given(data=st.data())
def test_neither_dividing_first_nor_by_the_inverse_nor_a_fused_factor_leaves_it(data: st.DataObject) -> None:
    way = data.draw(st.sampled_from(["first", "inverse first", "inverse last", "fused"]))
    terms = data.draw(columns("premul_sum" if way == "fused" else "mean"))
    form, n, parts = terms.format, len(terms.terms), [Fraction(re) for re, _ in terms.parts]
    inverse = Fraction(form.rounded(Fraction(1, n)))

    def join(left: Any, right: Any) -> Any:
        return form.rounded(left + right) if isinstance(left + right, Fraction) else left + right

    if way == "fused":
        value: Any = form.rounded(parts[0] * Fraction(FACTOR))
        for part in parts[1:]:
            value = join(part * Fraction(FACTOR), value)  # one rounding for the product and the sum
    else:
        each = {"first": Fraction(1, n), "inverse first": inverse}.get(way, Fraction(1))
        value = tree(data, [form.rounded(part * each) for part in parts], join)
        if way == "inverse last" and isinstance(value, Fraction):
            value = form.rounded(value * inverse)
    assume(isinstance(value, Fraction))
    assert abs(value - terms.exact[0]) <= terms.bound[0]


@pytest.mark.parametrize("dtype", REALS)
@settings(max_examples=200, deadline=None, derandomize=True)
@given(number=st.floats(allow_nan=False, allow_infinity=False))
def test_exact_rounding_is_that_of_the_formats(dtype: str, number: float) -> None:
    if dtype == "float64":
        return
    with np.errstate(all="ignore"):
        small = number if abs(number) < 1e30 else number / 2**960
        seen = float(np.array(small).astype(NUMPY[dtype]))
    found = precision(dtype).rounded(Fraction(small))
    assert float(found) == seen or (dtype == "float8_e4m3fn" and np.isinf(float(found)) and np.isnan(seen))


def test_the_bound_of_three_floats_is_the_one_of_the_proof() -> None:
    u = Fraction(1, 2**24)
    terms = column("float32", "sum", 1.0, np.array([1, 2, -3], np.float32).tobytes())
    assert terms.bound[0] == ((1 + u) ** 2 - 1) * 6
    assert terms.exact[0] == 0


@pytest.mark.parametrize(
    ("dtype", "count", "says"),
    [
        ("float8_e5m2", 2, True),
        ("float8_e5m2", 3, False),
        ("float8_e4m3fn", 3, True),
        ("float8_e4m3fn", 4, False),
        ("bfloat16", 33, True),
        ("bfloat16", 34, False),
    ],
)
def test_the_bound_says_nothing_where_rounding_may_eat_an_eighth(dtype: str, count: int, says: bool) -> None:
    assert column(dtype, "sum", 1.0, np.ones(count, NUMPY[dtype]).tobytes()).vacuous is not says


def test_what_underflows_and_is_made_large_again_has_no_bound() -> None:
    tiny = np.array([1e-30, 1e-30, 1e30, 1e30, 3.3], np.float32)
    assert column("float32", "product", 1.0, tiny.tobytes()).vacuous
    assert not column("float32", "product", 1.0, np.float32([1e-20, 1e-20, 3.3]).tobytes()).vacuous


def test_all_formats_are_those_that_ml_dtypes_describes() -> None:
    assert [precision(name).digits for name in REALS] == [ml_dtypes.finfo(NUMPY[name]).nmant + 1 for name in REALS]
