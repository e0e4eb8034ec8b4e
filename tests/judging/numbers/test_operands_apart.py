"""Clauses about values speak of each operand that a collective is mapped over, and settle its result alone."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Observation
from conformance.cases.program.program import Attr, Axis, Program, Step
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

Pair = tuple[Array, Array]
"""Of two ranks the blocks of an operand."""


def given(dtype: str, *blocks: object) -> Pair:
    first, second = (np.array(block, dtype) for block in blocks)
    return first, second


FLOATS, FLOAT_MEAN = given("float32", [6, 1], [7, 0]), np.array([6.5, 0.5], np.float32)
INTEGERS, MEAN = given("int32", [6, 1], [7, 0]), np.array([6.5, 0.5])
WRAPPED, SUM = given("int8", [127, 1], [127, 1]), np.array([-2, 2], np.int8)
BOOLS, COUNT = given("bool", [1, 1], [1, 0]), np.array([2, 1], np.int32)


def judged(
    op: str,
    operands: tuple[Pair, ...],
    results: tuple[Array, ...],
    *follows: str,
    backwards: bool = False,
    **attrs: Attr,
) -> Verdict:
    """Return the verdict on results, the same on two ranks, of operands that are reduced in one call."""
    order = [*reversed(range(len(operands)))] if backwards else [*range(len(operands))]
    x, y = ([f"{letter}{number}" for number in range(len(operands))] for letter in "xy")
    step = Step(op="all_reduce", inputs=tuple(x), outputs=tuple(y), axes=("i",), attrs={"op": op, **attrs})
    inputs = {
        name: Operand(blocks=tuple(map(from_array, operands[at])), layouts=("contiguous",) * 2)
        for name, at in zip(x, order, strict=True)
    }
    case = Case(program=Program(mesh=(Axis("i", 2),), steps=(step,), results=tuple(y)), inputs=inputs)
    seen: dict[str, tuple[Tensor | None, ...]] = {
        name: (from_array(results[at]),) * 2 for name, at in zip(y, order, strict=True)
    }
    return verdict(meaning(case), Answer(Observation(results=seen)), Terms(follows=frozenset(follows)))


def blamed(found: Verdict) -> str:
    return found.blame.id if found.blame is not None else ""


ORDERS = pytest.mark.parametrize("backwards", [False, True])


@ORDERS
@pytest.mark.parametrize(
    ("dtype", "clause"), [("float64", ""), ("float32", "reduction.C13"), ("int32", "reduction.C13")]
)
def test_reduction_c13_alone_speaks_of_the_dtype_of_a_mean_of_integers_beside_floats(
    dtype: str, clause: str, backwards: bool
) -> None:
    found = judged("mean", (FLOATS, INTEGERS), (FLOAT_MEAN, MEAN.astype(dtype)), backwards=backwards)
    assert (blamed(found), [each for each, held in found.clauses.items() if held == "broken"]) == (
        clause,
        [clause] * bool(clause),
    )


@ORDERS
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_reduction_c9_demands_a_mean_of_floats_beside_one_of_integers(dtype: str, backwards: bool) -> None:
    found = judged("mean", (FLOATS, INTEGERS), (FLOAT_MEAN + 1, MEAN.astype(dtype)), backwards=backwards)
    assert blamed(found) == "reduction.C9"


@ORDERS
def test_reduction_c22_demands_the_quotient_of_integers_beside_a_mean_of_floats(backwards: bool) -> None:
    assert blamed(judged("mean", (FLOATS, INTEGERS), (FLOAT_MEAN, MEAN + 1), backwards=backwards)) == "reduction.C22"


@ORDERS
def test_reduction_c23_frees_an_empty_mean_and_no_other(backwards: bool) -> None:
    empty = given("float32", np.ones((2, 0)), np.ones((2, 0)))
    several = given("float32", [[6], [1]], [[7], [0]])
    right, zeros = np.full(2, np.nan, np.float32), np.zeros(2, np.float32)
    for mean, other, clause in [
        (right, FLOAT_MEAN, ""),
        (zeros, FLOAT_MEAN, "reduction.C23"),
        (zeros, FLOAT_MEAN + 1, "all_reduce.C7"),
        (right, FLOAT_MEAN + 1, "all_reduce.C7"),
    ]:
        found = judged("mean", (empty, several), (mean, other), backwards=backwards, local_axes=(1,))
        assert blamed(found) == clause


@ORDERS
def test_reduction_c11_frees_a_sum_of_bools_and_no_sum_beside_it(backwards: bool) -> None:
    for count, total, clause in [
        (COUNT.astype(bool), SUM, "reduction.C11"),
        (COUNT, SUM + np.int8(1), "reduction.C12"),
        (COUNT.astype(bool), SUM + np.int8(1), "reduction.C12"),
    ]:
        assert blamed(judged("sum", (BOOLS, WRAPPED), (count, total), backwards=backwards)) == clause


@ORDERS
def test_reduction_c12_leaves_to_mpi_the_sum_that_wraps_and_none_beside_it(backwards: bool) -> None:
    saturated = np.array([127, 2], np.int8)
    for total, clause in [(COUNT.astype(np.int16), ""), (COUNT.astype(np.int16) + np.int16(1), "collective.C26")]:
        shorts = given("int16", [1, 1], [1, 0])
        assert blamed(judged("sum", (WRAPPED, shorts), (saturated, total), "mpi", backwards=backwards)) == clause


@ORDERS
def test_reduction_c13_lets_jax_divide_in_float32_beside_what_must_be_right(backwards: bool) -> None:
    wide, narrow = given("float64", [6, 1], [7, 0]), MEAN.astype(np.float32)
    for mean, clause in [(MEAN, ""), (MEAN + 1, "reduction.C9")]:
        assert blamed(judged("mean", (wide, INTEGERS), (mean, narrow), "jax", backwards=backwards)) == clause
