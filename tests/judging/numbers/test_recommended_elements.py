"""A should settles the elements it is about; a must demands the others, and an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

NAN = float("nan")


def build(call: str, op: str, blocks: Any) -> Case:
    made = tuple(from_array(np.array(block, np.float32)) for block in blocks)
    step = Step(op=call, inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": op})
    operand = Operand(blocks=made, layouts=("contiguous",) * len(made))
    return Case(program=Program(mesh=(Axis("i", len(made)),), steps=(step,), results=("y",)), inputs={"x": operand})


def judged(op: str, blocks: Any, seen: Any, call: str = "all_reduce") -> Verdict:
    subject = meaning(build(call, op, blocks))
    dtype = next(iter(subject.expected.values()))[0].dtype
    results = tuple(from_array(np.array(seen, dtype)) for _ in blocks)
    return verdict(subject, Answer(Observation(results={"y": results})))


@pytest.mark.parametrize(
    ("op", "blocks", "seen", "requirement"),
    [
        ("max", [[NAN, 1], [2, 3]], [2, 3], "should"),  # drops the NaN
        ("max", [[NAN, 1], [2, 3]], [NAN, 2], "must"),  # and here the NaN is right and its neighbour wrong
        ("mean", [[1], [1], [0]], [np.float32(2 / 3) + np.float32(6e-8)], "must"),
        ("mean", [[NAN], [1], [0]], [0], "must"),
        ("mean", [[np.inf], [1], [0]], [5], "must"),
        ("mean", [[1], [1], [0]], [5], "must"),
        ("sum", [[1e-45, 1], [0, 1]], [0, 2], "must"),  # flushes what is subnormal, and does not say so
        ("sum", [[-0.0, 1], [-0.0, 1]], [0, 2], "should"),
        ("sum", [[-0.0, 1], [-0.0, 1]], [0, 9], "must"),
    ],
)
def test_elements_that_no_should_is_about_are_demanded(op: str, blocks: Any, seen: Any, requirement: str) -> None:
    found = judged(op, blocks, seen)
    assert found.outcome == "failed"
    assert found.blame is not None
    assert found.blame.requirement == requirement


def test_a_position_of_a_nan_is_a_should_and_its_neighbours_a_must() -> None:
    right = judged("max", [[NAN, 1], [2, 3]], [2**31 - 1, 1], "arg_reduce")
    any_member = judged("max", [[NAN, 1], [2, 3]], [0, 1], "arg_reduce")
    nobody = judged("max", [[NAN, 1], [2, 3]], [2, 1], "arg_reduce")
    wrong = judged("max", [[NAN, 1], [2, 3]], [2**31 - 1, 0], "arg_reduce")
    assert right.outcome == any_member.outcome == "passed"
    assert [each.blame.requirement for each in (nobody, wrong) if each.blame] == ["should", "must"]


def test_an_answer_is_demanded_where_a_should_settles_elements() -> None:
    case = build("all_reduce", "max", [[NAN, 1], [2, 3]])
    error = RankError(kind="ValueError", message="no NaN", category="invalid_argument")
    found = verdict(meaning(case), Answer(Observation(errors=(error, error))))
    assert found.outcome == "errored"
    assert found.blame is not None
    assert found.blame.requirement == "must"


@pytest.mark.parametrize(("gathered", "requirement"), [([2, 1], "should"), ([2, 9], "must")])
def test_what_is_made_of_an_element_that_a_should_settles_follows_it(gathered: Any, requirement: str) -> None:
    one = build("all_reduce", "max", [[NAN, 1], [2, 0]])
    later = Step(op="all_gather", inputs=("y",), outputs=("z",), axes=("i",), attrs={"axis": 0, "tiled": False})
    case = replace(one, program=replace(one.program, steps=(*one.program.steps, later), results=("y", "z")))
    results = {"y": np.array([2, 1], np.float32), "z": np.array([gathered] * 2, np.float32)}
    seen = Observation(results={name: (from_array(made),) * 2 for name, made in results.items()})
    found = verdict(meaning(case), Answer(seen))
    assert found.blame is not None
    assert found.blame.requirement == requirement
