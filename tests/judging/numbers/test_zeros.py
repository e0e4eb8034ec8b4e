"""Zeros of sums that are handed on: of terms that are all -0.0 either zero may come, and -0.0 is recommended."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.judging.numbers.column import column
from conformance.judging.numbers.facts import all_minus_zero, large
from conformance.judging.numbers.order import minus_zeros, several_right
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer


def handed_on(op: str, factor: float, dtype: str, *numbers: complex, by: str = "copy") -> Case:
    attrs = {"op": op, "factor": factor} if op == "premul_sum" else {"op": op}
    steps = (
        Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs=attrs),
        Step(op=by, inputs=("y",), outputs=("z",), axes=(), attrs={})
        if by == "copy"
        else Step(op=by, inputs=("y",), outputs=("z",), axes=("i",), attrs={"root": 0}),
    )
    blocks = tuple(from_array(np.array([number], dtype)) for number in numbers)
    operand = Operand(blocks=blocks, layouts=("contiguous",) * len(blocks))
    return Case(program=Program(mesh=(Axis("i", len(blocks)),), steps=steps, results=("z",)), inputs={"x": operand})


@pytest.mark.parametrize(
    ("op", "factor", "dtype", "numbers"),
    [
        ("sum", 1.0, "float32", (-0.0, -0.0)),
        ("premul_sum", 0.0, "float64", (-1.0, -3.0)),
        ("premul_sum", 0.0, "complex64", (complex(1, -1), complex(2, -2))),
        ("mean", 1.0, "float16", (-0.0, -0.0)),
    ],
)
def test_a_sum_of_minus_zeros_that_is_handed_on_may_be_either_zero(
    op: str, factor: float, dtype: str, numbers: tuple[complex, ...]
) -> None:
    for by in ("copy", "broadcast"):
        case = handed_on(op, factor, dtype, *numbers, by=by)
        assert several_right(case)
        subject, zeros = meaning(case), np.zeros(1, dtype)
        assert not subject.unsettled
        right = subject.expected["z"][0]
        assert right is not None
        for given in (zeros, -zeros, zeros + 1):
            found = verdict(subject, Answer(Observation(results={"z": (from_array(given),) * 2})))
            recommended = by == "copy" and given.tobytes() != right.tobytes()
            assert (found.blame is None) == (not recommended and not given.any())
            assert given.any() or not recommended or (found.blame and found.blame.id == "numerics.C6")


@pytest.mark.parametrize(
    ("op", "factor", "numbers"),
    [
        ("sum", 1.0, (-0.0, 0.0)),
        ("premul_sum", 0.0, (-1.0, 3.0)),
        ("sum", 1.0, (1.0, -1.0)),
        ("max", 1.0, (-0.0, -0.0)),
    ],
)
def test_a_sum_of_other_zeros_has_one_result(op: str, factor: float, numbers: tuple[float, ...]) -> None:
    case = handed_on(op, factor, "float32", *numbers)
    assert not several_right(case)
    assert not meaning(case).open


@pytest.mark.parametrize("dtype", ["float32", "complex64", "bfloat16", "float8_e4m3fn"])
def test_sums_of_minus_zeros_alone_are_found_element_by_element(dtype: str) -> None:
    drawn = np.random.default_rng(0).choice([0.0, -0.0, 1.0], size=(2, 3, 40))
    terms = drawn[0].astype(dtype) if dtype != "complex64" else np.empty((3, 40), dtype)
    if dtype == "complex64":
        terms.real, terms.imag = drawn
    parts = drawn if dtype == "complex64" else drawn[:1]
    wanted = [any(all(str(term) == "0.0" for term in part[:, at]) for part in parts) for at in range(40)]
    assert list(minus_zeros(list(terms), -1.0)) == wanted  # scaled by -1, 0.0 is -0.0
    assert set(wanted) == {True, False}


@pytest.mark.parametrize(("numbers", "asked"), [((-0.0, -0.0), True), ((-0.0, 0.0), False), ((0.0, -0.0), False)])
def test_numerics_c6_is_about_terms_that_are_all_minus_zero(numbers: tuple[float, ...], asked: bool) -> None:
    assert all_minus_zero(column("float32", "sum", 1.0, np.array(numbers, np.float32).tobytes())) == asked


def test_numerics_c18_is_about_the_sum_that_a_mean_divides() -> None:
    terms = np.array([60000.0, 60000.0], np.float32).tobytes()
    assert large(column("float32", "mean", 1.0, terms))
    assert not large(column("float32", "premul_sum", 0.5, terms))


@pytest.mark.parametrize(("value", "blame"), [(0.0, "numerics.C6"), (-0.0, None), (1e-45, "reduction.C1")])
def test_numerics_c6_settles_the_sign_of_a_zero_and_not_that_it_is_one(value: float, blame: str | None) -> None:
    case = handed_on("sum", 1.0, "float32", -0.0, -0.0)
    seen = Observation(results={"z": (from_array(np.array([value], np.float32)),) * 2})
    found = verdict(meaning(case), Answer(seen)).blame
    assert (found and found.id) == blame
