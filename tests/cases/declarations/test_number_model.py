"""Number models: what is declared is read word by word, and what is none is refused in one line."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.cases.declarations.number_model import STANDARD, NumberModelError, covers, number_model, word_of


def test_a_word_is_for_every_dtype_that_can_have_it() -> None:
    model = number_model({"mean": "reciprocal", "accumulate": "float32"})
    assert model.words("float64", "mean") == {("mean", "reciprocal")}
    assert model.words("bfloat16", "mean") == {("mean", "reciprocal"), ("accumulate", "float32")}


def test_words_may_differ_per_dtype_and_complex_numbers_have_those_of_their_parts() -> None:
    model = number_model({"subnormals": {"float32": "flushed", "float16": "kept"}})
    assert word_of(model.words("complex64", "mean"), "subnormals") == "flushed"
    assert model.words("float16", "mean") == frozenset()


def test_words_may_differ_per_reduction_of_a_dtype() -> None:
    by_op = {"sum": "float32", "product": "bfloat16"}
    model = number_model({"accumulate": {"float8_e5m2": by_op}, "between": {"float8_e5m2": {"sum": "own"}}})
    assert model.words("float8_e5m2", "sum") == {("accumulate", "float32"), ("between", "own")}
    assert model.words("float8_e5m2", "product") == {("accumulate", "bfloat16")}
    assert model.words("float8_e5m2", "mean") == frozenset()
    assert ("float8_e5m2:sum", "between", "own") in model.chosen


def test_what_holds_anyway_is_the_standard_model() -> None:
    assert number_model({"mean": "division", "overflow": {"float8_e5m2": "standard"}}) == STANDARD == number_model({})


def test_a_format_covers_one_of_fewer_digits_and_no_further_reach() -> None:
    assert covers("extended", "float64")
    assert covers("float32", "bfloat16")
    assert not covers("bfloat16", "float16")
    assert not covers("float16", "bfloat16")
    assert not covers("float32", "float32")


@pytest.mark.parametrize(("declared", "says"), [
    ({"means": "reciprocal"}, "unknown kind 'means'; did you mean 'mean'"),
    ({"mean": "reciprocl"}, "unknown word of mean 'reciprocl'; did you mean 'reciprocal'"),
    ({"mean": {"flaot32": "division"}}, "unknown dtype of mean 'flaot32'; did you mean 'float32'"),
    ({"mean": {"float16": {"som": "division"}}}, "unknown reduction of mean of float16 'som'; did you mean 'sum'"),
    ({"between": {"float16": {"sum": "own"}}}, "declare accumulate too"),
    ({"mean": {"complex64": "division"}}, "complex64 follows its parts; name float32"),
    ({"subnormals": ["kept", "flushed"]}, "'kept' and 'flushed' exclude each other"),
    ({"accumulate": {"float16": "bfloat16"}}, "bfloat16 does not hold every float16; wider are float32"),
    ({"accumulate": "extended", "between": {"float32": "float16"}}, "float16 is not between float32 and extended"),
    ({"between": "own"}, "declare accumulate too"),
    ({"overflow": 3}, "unknown word of overflow 3"),
    ("flushed", "it is a mapping of subnormals"),
])  # fmt: skip
def test_what_is_no_number_model_is_refused_in_one_line(declared: Any, says: str) -> None:
    with pytest.raises(NumberModelError) as refused:
        number_model(declared)
    assert says in str(refused.value).replace("number model: ", "")
    assert "\n" not in str(refused.value)
