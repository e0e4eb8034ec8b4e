"""A product of storage is what some tree gives, and one of what earlier steps rounded is within bounds."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer


def step(does: str, *inputs: str, to: str = "", axes: str = "", **attrs: Any) -> Step:
    return Step(op=does, inputs=inputs, outputs=(to,) if to else (), axes=tuple(axes), attrs=attrs)


BUFFER = step("buffer", "x", to="b")
OF_STORAGE = step("all_reduce", "b", to="z", axes="i", op="product")
STARTED = Step(op="all_reduce", inputs=("b",), outputs=("t",), axes=("i",), attrs={"op": "product"}, start=True)
OF_PRODUCTS = step("all_reduce", "y", to="z", axes="j", op="product")
PRODUCT = step("all_reduce", "x", to="y", axes="i", op="product")
TIMES = step("alu", "x", "x", to="a", op="mul")


def judged(steps: tuple[Step, ...], x: NDArray[Any], z: Any) -> Verdict:
    """Return the verdict on ``z`` as every rank's result of a program of ``x``, a number a rank of 4 by 3 or of 4."""
    mesh = (Axis("i", 4), Axis("j", 3))[: 1 + (len(x) > 4)]
    operand = Operand(blocks=tuple(from_array(each.reshape(1)) for each in x), layouts=("contiguous",) * len(x))
    case = Case(program=Program(mesh=mesh, steps=steps, results=("z",)), inputs={"x": operand})
    seen = Observation(results={"z": (from_array(np.array([z]).astype(x.dtype)),) * len(x)})
    return verdict(meaning(case), Answer(seen))


@pytest.mark.parametrize(
    ("clause", "steps"),
    [
        ("reduction.C2", (BUFFER, OF_STORAGE)),
        ("aliasing.C4", (BUFFER, OF_STORAGE, step("assign", "b", "x"))),
        ("async.C1", (BUFFER, STARTED, step("done", "t", to="z"))),
        ("numerics.C4", (BUFFER, OF_STORAGE, TIMES)),
    ],
)
@pytest.mark.parametrize(("order", "by"), [((0, 1, 2, 3), 1.0), ((3, 1, 0, 2), 1.0), ((0, 1, 2, 3), 1 + 3e-7)])
def test_a_product_of_storage_is_what_some_order_gives(
    clause: str, steps: tuple[Step, ...], order: tuple[int, ...], by: float
) -> None:
    x = np.array([0.1, 0.3, 0.7, 1.1], np.float32)
    found = judged(steps, x, functools.reduce(lambda a, b: a * b, x[list(order)]) * np.float32(by))
    assert (found.clauses[clause], found.outcome) == (("held", "passed") if by == 1 else ("broken", "failed"))


@pytest.mark.parametrize(("by", "held"), [(1.0, "held"), (1 + 2e-7, "held"), (1.001, "broken"), (12345.0, "broken")])
def test_a_product_of_what_was_computed_has_a_bound(by: float, held: str) -> None:
    x = np.array([0.1, 0.3, 0.7, 1.1], np.float32)
    steps = (TIMES, step("all_reduce", "a", to="z", axes="i", op="product"))
    found = judged(steps, x, float(x.astype(np.float64).prod()) ** 2 * by)
    assert (found.clauses["computing.C9"], found.outcome) == (held, "passed" if held == "held" else "failed")


@pytest.mark.parametrize("dtype", ["float8_e5m2", "float8_e4m3fn", "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("scale", [1.0, 0.02])
def test_any_tree_of_products_of_products_is_right_and_what_is_far_from_all_is_not(dtype: str, scale: float) -> None:
    draw = np.random.default_rng(54)
    for _ in range(8):
        x = (draw.uniform(0.7, 1.6, 12) * scale ** draw.integers(0, 2, 12)).astype(NUMPY[dtype])
        columns = [list(draw.permutation(x[at::3])) for at in range(3)]
        made = [functools.reduce(lambda a, b: a * b, column) for column in columns]
        tree = made[1] * (made[2] * made[0])
        assert judged((PRODUCT, OF_PRODUCTS), x, tree).outcome == "passed"
    assert judged((PRODUCT, OF_PRODUCTS), x, 100.0).outcome == "failed"


@pytest.mark.parametrize(("z", "outcome"), [(0.0, "passed"), (1e-38, "passed"), (1e-45, "failed"), (1.0, "failed")])
def test_what_some_order_loses_to_underflow_is_right(z: float, outcome: str) -> None:
    x = np.array([1e-30, 1e-30, 1e22, 1.0], np.float32)
    assert judged((BUFFER, OF_STORAGE), x, z).outcome == outcome


@pytest.mark.parametrize(("z", "outcome"), [(0.0, "passed"), (np.inf, "passed"), (np.nan, "passed"), (7.0, "failed")])
def test_a_product_that_some_order_takes_past_every_number_is_what_an_order_gives(z: float, outcome: str) -> None:
    x = np.array([1e-30, 1e-30, 1e30, 1e30], np.float32)
    assert judged((BUFFER, OF_STORAGE), x, z).outcome == outcome


@pytest.mark.parametrize(("x", "z"), [([1j, 2, 2, 1], 4j), ([1j, -2, 2, 1], complex(-0.0, -4.0))])
def test_a_part_of_a_complex_product_that_is_zero_has_the_sign_of_an_order(x: list[complex], z: complex) -> None:
    assert judged((BUFFER, OF_STORAGE), np.array(x, np.complex64), z).outcome == "passed"
    assert judged((BUFFER, OF_STORAGE), np.array(x, np.complex64), z + 1).outcome == "failed"
