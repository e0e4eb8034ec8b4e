"""Accumulators that are no format, and 16-bit intermediate values of graphs with more: declared, and only then."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.declarations.number_model import NumberModelError, number_model
from conformance.cases.tensor.dtypes import Array
from conformance.judging.numbers.advice import advice
from conformance.judging.numbers.classes import classes_of
from conformance.judging.numbers.column import column

CRUMBS = np.array([1.0, 2.0**-24, 2.0**-54], np.float32)
"""Half a unit in the last place and a crumb: rounded once that is a unit more than 1, and by any tree in float64 1."""

UP, PAST = np.float32([1.0000001]), np.float32([1.0000004])


def admitted(value: Array, op: str = "sum", terms: Array = CRUMBS, **declared: str) -> bool:
    words = number_model(declared).words("float32", op)
    return bool(classes_of("float32", op, 1.0, terms.tobytes(), value.tobytes(), exact=False, words=words))


def test_an_exact_sum_is_right_where_it_is_declared() -> None:
    assert not admitted(UP)
    assert not admitted(UP, accumulate="float64")
    assert admitted(UP, accumulate="exact")
    assert not admitted(PAST, accumulate="exact")


def test_a_compensated_sum_lies_near_the_exact_one() -> None:
    assert admitted(UP, accumulate="compensated")
    assert not admitted(PAST, accumulate="compensated")


def test_an_exact_mean_and_an_exact_product_are_rounded_once() -> None:
    factors = np.array([1 + 2.0**-12, 1 + 2.0**-12, 1 - 2.0**-11], np.float32)
    once = np.float32([float(np.prod(factors.astype(np.longdouble)))])
    assert admitted(once, "product", factors, accumulate="exact")
    assert admitted(np.float32([1.0000001 / 3]), "mean", accumulate="exact")


def test_the_declaration_is_named() -> None:
    terms = column("float32", "sum", 1.0, CRUMBS.tobytes())
    assert '"accumulate": {"float32": "exact"}' in advice([(terms, UP, frozenset())])


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"accumulate": "exact", "between": "own"}, "'own' contradicts accumulate: exact"),
        ({"accumulate": "compensated", "between": "float32"}, "'float32' contradicts accumulate: compensated"),
        ({"accumulate": ["exact", "compensated"]}, "'exact' and 'compensated' exclude each other"),
        ({"intermediates": {"float32": "excess"}}, "excess is of float16 and bfloat16, not of float32"),
    ],
)
def test_words_that_contradict_each_other_are_refused(declared: dict[str, str], words: str) -> None:
    with pytest.raises(NumberModelError, match=words):
        number_model(declared)
