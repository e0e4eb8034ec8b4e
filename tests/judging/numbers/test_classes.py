"""Classes: what each of them holds, and that a result just outside all of them is broken."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conformance.cases.declarations.number_model import BEYOND, DEFAULT, KINDS, covers
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.judging.numbers.classes import Class, classes_of, reachable
from conformance.judging.numbers.column import Column, column, parts_of
from conformance.judging.numbers.complex_product import products
from conformance.judging.numbers.formats import rounded_to
from conformance.judging.numbers.model_operations import carried
from conformance.judging.numbers.sum_interval import sum_interval
from conformance.judging.numbers.trees import in_any_order, in_known_orders, in_rank_order
from conformance.reference.reductions import fold
from tests.judging.numbers.drawn import FACTOR, columns, rounded_tree

OPS = pytest.mark.parametrize("op", ["sum", "mean", "premul_sum", "product"])
DRAWN = settings(max_examples=60, deadline=None, derandomize=True)


def classes(terms: Column, value: Array, *words: tuple[str, str]) -> frozenset[Class]:
    content = terms.dtype, terms.op, terms.factor, terms.content, value.tobytes()
    return classes_of(*content, exact=False, words=frozenset(words))


def of(dtype: str, op: str, *numbers: float) -> Column:
    return column(dtype, op, FACTOR, np.array(numbers).astype(NUMPY[dtype]).tobytes())


def one(dtype: str, number: float) -> Array:
    return np.array([number]).astype(NUMPY[dtype])


def folded(terms: Column) -> Array:
    return fold(list(terms.terms.reshape(-1, 1)), terms.op, terms.factor)


@OPS
@DRAWN
@given(data=st.data())
def test_every_tree_is_found_and_order_free_terms_have_one_result(op: str, data: st.DataObject) -> None:
    terms = data.draw(columns(op))
    value = rounded_tree(data, terms)
    assume(value is not None)
    if terms.order_free:
        assert value.tobytes() == folded(terms).tobytes()
    else:
        assert "any_tree" in classes(terms, value)
        assert terms.complex or {"rank_order_tree", "any_tree"} <= classes(terms, folded(terms))


@OPS
@DRAWN
@given(data=st.data())
def test_a_declared_accumulator_is_found_in_any_order(op: str, data: st.DataObject) -> None:
    terms = data.draw(columns(op))
    assume(not terms.complex)
    formats = [word for word in KINDS["accumulate"] if word not in ("own", "extended", *BEYOND)]
    wider = [word for word in formats if covers(word, terms.dtype)]
    assume(wider and not terms.order_free)
    word = data.draw(st.sampled_from(wider))
    some = data.draw(st.permutations(list(terms.terms.reshape(-1, 1).astype(NUMPY[word]))))
    with np.errstate(all="ignore"):
        value = rounded_to(fold(some, op, FACTOR), terms.terms.dtype)
    assert classes(terms, value, ("accumulate", word))


@OPS
@DRAWN
@given(data=st.data())
def test_just_outside_every_class_a_result_is_broken(op: str, data: st.DataObject) -> None:
    terms = data.draw(columns(op))
    assume(not terms.complex)
    trees = reachable(terms)[1]
    assert trees is not None
    assume(np.isfinite(trees).all())
    top = max(Fraction(float(end)) for end in trees)
    above = terms.format.rounded(top + 2 * terms.format.quantum(top))
    assume(isinstance(above, Fraction))
    assert classes(terms, one(terms.dtype, float(above))) == frozenset()


@DRAWN
@given(data=st.data())
def test_no_tree_leaves_the_spread_of_sums(data: st.DataObject) -> None:
    terms = data.draw(columns(data.draw(st.sampled_from(["sum", "mean", "premul_sum"])), most=24))
    value = rounded_tree(data, terms)
    assume(value is not None)
    ends = sum_interval(terms, carried(terms.dtype, terms.op, terms.factor, len(terms.terms), DEFAULT))
    ((real, _),) = parts_of(value)
    assert ends.low <= real <= ends.high


def test_a_wide_accumulator_may_hold_sums_that_float64_does_not() -> None:
    terms = of("float64", "sum", *(1.5e308 + 2.0**970 * i for i in range(40)))
    assert classes(terms, one("float64", np.inf), ("accumulate", "extended"))
    assert not classes(terms, one("float64", 1.0), ("accumulate", "extended"))


def test_order_free_terms_admit_their_neighbour_nowhere() -> None:
    assert classes(of("float32", "sum", 1, 2, 4), np.nextafter(np.float32([7]), np.float32(8))) == frozenset()


def test_two_terms_that_round_have_one_result_but_in_another_number_model() -> None:
    terms = of("float8_e4m3fn", "sum", 0.5625, 0.029296875)
    assert not terms.order_free
    assert classes(terms, one(terms.dtype, 0.625)) == frozenset()
    assert classes(terms, one(terms.dtype, 0.625), ("accumulate", "bfloat16")) == {"wide_accumulator"}


@pytest.mark.parametrize(("dtype", "numbers", "result", "found"), [
    ("bfloat16", (256, 1, 1), 258, {"rank_order_tree", "any_tree"}),
    ("float32", (1e8, 1, -1e8), 1, {"any_tree"}),
    ("float8_e5m2", (12, 6, 0.5, 8), 28, set()),
    ("float32", (2**24, 1, -(2**24)), 5, set()),
    ("float32", (2**24, 1, -(2**24)), -3, set()),
    ("float32", (2**24, 3, -(2**24)), 0, set()),
])  # fmt: skip
def test_where_trees_are_gone_through_nothing_else_is_admitted(
    dtype: str, numbers: tuple[float, ...], result: float, found: set[str]
) -> None:
    assert classes(of(dtype, "sum", *numbers), one(dtype, result)) == found


def test_trees_in_rank_order_keep_the_order() -> None:
    terms = np.float32([1, 1e8, -1e8])
    in_order = in_rank_order(terms, np.add)
    any_order = in_any_order(terms, np.add)
    assert in_order is not None
    assert any_order is not None
    assert set(in_order.tolist()) == {0.0, 1.0}
    assert set(in_rank_order(np.float32([1e8, 1, -1e8]), np.add)) == {0.0}
    assert set(any_order.tolist()) == {0.0, 1.0}


def test_equal_terms_are_one_leaf_and_too_many_unlike_ones_are_not_gone_through() -> None:
    many = np.ones(200, np.float32)
    assert in_any_order(many, np.add) == [200]
    assert in_any_order(np.arange(9, dtype=np.float32), np.add) is None
    assert in_rank_order(np.arange(17, dtype=np.float32), np.add) is None
    assert set(in_known_orders(np.arange(9, dtype=np.float32), np.add)) == {36}


@pytest.mark.parametrize(("numbers", "result", "admitted"), [
    ((65504, 65504, -65504), math.inf, True),
    ((65504, 65504, -65504), 65504, True),
    ((65504, 65504, -65504), 0, False),
    ((65504, 65504, -65504), -math.inf, False),
    ((60000, 60000, 60000), 65504, False),
    ((1000, 1001, 1000.5), math.inf, False),
    ((math.inf, 1, 2), math.nan, False),
    ((math.inf, 1, 2), 65504, False),
    ((1, -1, 2.0**-24), -0.0, False),
])  # fmt: skip
def test_an_infinity_is_admitted_where_some_order_overflows(
    numbers: tuple[float, ...], result: float, admitted: bool
) -> None:
    assert bool(classes(of("float16", "sum", *numbers), one("float16", result))) is admitted


def test_nine_unlike_terms_have_no_tree_and_still_a_bound() -> None:
    terms = of("float32", "sum", 1e8, 1, 3, 5, 7, 9, 11, 13, 17)
    assert classes(terms, one("float32", 1e8 + 96)) == {"within_bound"}
    assert classes(terms, one("float32", 1e8 + 1024)) == frozenset()


def test_the_sign_of_a_product_is_no_matter_of_rounding() -> None:
    terms = of("float32", "product", 1e-30, -1e-30, 1e-30)
    assert "any_tree" in classes(terms, one("float32", -0.0))
    assert classes(terms, one("float32", 0.0)) == frozenset()


@pytest.mark.parametrize(
    ("op", "terms", "value", "words"),
    [
        ("mean", [0.015625, 0.01953125, 0.03515625, 0.03515625], 0.0234375, ("mean", "divided_terms")),
        ("premul_sum", [1.0, 1.125, 1.875], 2.75, ("multiply_add", "fused")),
    ],
)
def test_other_ways_to_scale_are_trees_of_their_own(
    op: str, terms: list[float], value: float, words: tuple[str, str]
) -> None:
    terms_of = of("float8_e4m3fn", op, *terms)
    assert classes(terms_of, one("float8_e4m3fn", value)) == frozenset()
    assert classes(terms_of, one("float8_e4m3fn", value), words) == {"number_model"}
    assert classes(terms_of, one("float8_e4m3fn", 9), words) == frozenset()


def test_a_product_of_many_complex_numbers_with_infinities_is_gone_through_in_known_orders() -> None:
    terms = np.array([complex(np.inf, 1), 1 + 1j, complex(np.nan, -np.inf)] * 30, np.complex64)
    assert len(in_known_orders(terms, products)) == 3 * len(terms)


@pytest.mark.parametrize(("given_", "admitted"), [(2.0**-126, True), (0.0, True), (1.0, False)])
def test_who_flushes_results_may_do_so_before_it_rounds(given_: float, admitted: bool) -> None:
    # 2**-126 - 2**-150 lies below the normal numbers, and is rounded to the least of them.
    terms = of("float32", "product", 1 - 2.0**-24, 2.0**-126)
    assert bool(classes(terms, one("float32", given_), ("subnormals", "flushed"))) == admitted
