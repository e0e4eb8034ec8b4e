"""One element that may be another, for a NaN or for what the number model chooses, frees what is made of it alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.declarations.number_model import number_model
from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer


def step(does: str, *inputs: str, to: str, axes: str = "i", **attrs: Any) -> Step:
    return Step(op=does, inputs=inputs, outputs=(to,), axes=tuple(axes), attrs=attrs)


BUFFER = step("buffer", "x", to="b", axes="")


def greatest(operand: str, to: str) -> Step:
    return step("all_reduce", operand, to=to, op="max")


def judged(steps: tuple[Step, ...], x: list[float], y: list[float], **words: str) -> Verdict:
    """Return the verdict on ``y`` as the result of two ranks that both hold ``x``."""
    operand = Operand(blocks=(from_array(np.array(x, np.float32)),) * 2, layouts=("contiguous",) * 2)
    case = Case(program=Program(mesh=(Axis("i", 2),), steps=steps, results=("y",)), inputs={"x": operand})
    seen = Observation(results={"y": (from_array(np.array(y, np.float32)),) * 2})
    return verdict(meaning(case), Answer(seen), Terms(numbers=number_model(words)))


@pytest.mark.parametrize(
    "steps",
    [
        (BUFFER, greatest("b", "y")),
        (step("broadcast", "x", to="q", root=0), greatest("q", "y")),
        (greatest("x", "q"), greatest("q", "y")),
        (greatest("x", "q"), step("broadcast", "q", to="y", root=1)),
        (BUFFER, greatest("b", "q"), step("permute", "q", to="y", pairs=((0, 1), (1, 0)))),
    ],
)
@pytest.mark.parametrize(
    ("y", "requirement"),
    [([np.nan, 2.0], ""), ([5.0, 2.0], "should"), ([np.nan, 3.0], "must"), ([5.0, 3.0], "must")],
)
def test_reduction_c20_leaves_every_must_to_the_elements_that_no_nan_is_among(
    steps: tuple[Step, ...], y: list[float], requirement: str
) -> None:
    found = judged(steps, [np.nan, 2.0], y)
    assert (found.blame.requirement if found.blame else "") == requirement


@pytest.mark.parametrize(
    ("y", "words", "outcome"),
    [
        ([0.0, 2.0], {"subnormals": "flushed"}, "passed"),
        ([0.0, 2.0], {}, "failed"),
        ([2e-40, 3.0], {"subnormals": "flushed"}, "failed"),
        ([0.0, 3.0], {"subnormals": "flushed"}, "failed"),
    ],
)
def test_all_reduce_c1_is_about_what_no_flushed_number_is_among(
    y: list[float], words: dict[str, str], outcome: str
) -> None:
    added = step("all_reduce", "b", to="y", op="sum")
    assert judged((BUFFER, added), [1e-40, 1.0], y, **words).outcome == outcome


@pytest.mark.parametrize(
    ("kept", "moved", "requirement"),
    [
        (5.0, [5.0, 2.0], "should"),
        (5.0, [5.0, 3.0], "must"),
        (np.nan, [np.nan, 2.0], ""),
        (np.nan, [5.0, 2.0], "must"),
    ],
)
def test_broadcast_c1_is_about_what_was_moved_beside_a_maximum_of_a_nan_that_is_none(
    kept: float, moved: list[float], requirement: str
) -> None:
    steps = (greatest("x", "q"), step("broadcast", "q", to="y", root=1))
    operand = Operand(blocks=(from_array(np.array([np.nan, 2.0], np.float32)),) * 2, layouts=("contiguous",) * 2)
    case = Case(program=Program(mesh=(Axis("i", 2),), steps=steps, results=("q", "y")), inputs={"x": operand})
    given = {"q": [kept, 2.0], "y": moved}
    seen = Observation(results={name: (from_array(np.array(each, np.float32)),) * 2 for name, each in given.items()})
    found = verdict(meaning(case), Answer(seen))
    assert (found.blame.requirement if found.blame else "") == requirement


@pytest.mark.parametrize(("dtype", "requirement"), [("float64", ""), ("float32", "should"), ("int32", "should")])
def test_reduction_c13_recommends_the_dtype_of_what_is_made_of_a_mean_of_integers_too(
    dtype: str, requirement: str
) -> None:
    mean = step("all_reduce", "y", to="z", op="mean")
    operand = Operand(blocks=(from_array(np.array([6], np.int32)),) * 2, layouts=("contiguous",) * 2)
    started = (replace(mean, inputs=("x",), outputs=("t",), start=True), step("done", "t", to="y", axes=""), mean)
    case = Case(program=Program(mesh=(Axis("i", 2),), steps=started, results=("y", "z")), inputs={"x": operand})
    seen = Observation(results={name: (from_array(np.array([6], dtype)),) * 2 for name in "yz"})
    found = verdict(meaning(case), Answer(seen))
    assert (found.blame.requirement if found.blame else "") == requirement


@pytest.mark.parametrize(
    ("y", "z", "requirement"),
    [
        ([2**31 - 1, 1], [True, True], ""),
        ([2**31 - 1, 1], [False, True], "must"),
        ([0, 1], [False, True], ""),
        ([7, 1], [True, True], "should"),
        ([0, 0], [False, False], "must"),
        (None, [False, True], ""),
    ],
)
def test_computing_c12_asks_nothing_of_what_is_made_of_a_position_beside_a_nan(
    y: list[int] | None, z: list[bool], requirement: str
) -> None:
    steps = (step("arg_reduce", "x", to="y", op="max"), step("alu", "n", "y", to="z", axes="", op="lt"))
    blocks = {"x": [np.array(x, np.float32) for x in ([np.nan, 1], [2, 2])], "n": [np.zeros(2, np.int32)] * 2}
    inputs = {
        name: Operand(blocks=tuple(map(from_array, each)), layouts=("contiguous",) * 2) for name, each in blocks.items()
    }
    given = {"z": np.array(z)} | ({} if y is None else {"y": np.array(y, np.int32)})
    case = Case(program=Program(mesh=(Axis("i", 2),), steps=steps, results=tuple(given)), inputs=inputs)
    found = verdict(meaning(case), Answer(Observation(results={n: (from_array(a),) * 2 for n, a in given.items()})))
    assert (found.blame.requirement if found.blame else "") == requirement
