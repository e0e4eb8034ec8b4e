"""Positions of extremes beside a NaN: any member's, or that of none, wherever they were moved to."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer


def call(name: str, operand: str, output: str, **how: object) -> Step:
    attrs = {key: value for key, value in how.items() if key not in ("start", "into")}
    given = {key: value for key, value in how.items() if key in ("start", "into")}
    return Step(op=name, inputs=(operand,), outputs=(output,), axes=("i",), attrs=attrs, **given)


def effect(op: str, operand: str, output: str) -> Step:
    return Step(op=op, inputs=(operand,), outputs=(output,), axes=())


GREATEST = call("arg_reduce", "x", "p", op="max")
NOWHERE = 2**31 - 1
PROGRAMS = {
    "p": (GREATEST,),
    "started": (call("arg_reduce", "x", "t", op="max", start=True), effect("done", "t", "p")),
    "of a buffer": (effect("buffer", "x", "b"), call("arg_reduce", "b", "p", op="max")),
    "into a buffer": (effect("buffer", "w", "b"), call("arg_reduce", "x", "p", op="max", into=("b",))),
    "copied": (call("arg_reduce", "x", "q", op="max"), effect("copy", "q", "p")),
    "moved": (call("arg_reduce", "x", "q", op="max"), call("broadcast", "q", "p", root=1)),
}


def case(steps: tuple[Step, ...], *results: str) -> Case:
    inputs = {"x": np.array([[np.nan, 1], [2, 3]], np.float32), "w": np.zeros((2, 2), np.int32)}
    operands = {
        name: Operand(blocks=tuple(map(from_array, blocks)), layouts=("contiguous",) * 2)
        for name, blocks in inputs.items()
    }
    return Case(program=Program(mesh=(Axis("i", 2),), steps=steps, results=results), inputs=operands)


def positions(first: int, second: int = 1) -> tuple:
    return (from_array(np.array([first, second], np.int32)),) * 2


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    ("first", "second", "held"),
    [(0, 1, "held"), (1, 1, "held"), (NOWHERE, 1, "held"), (2, 1, "broken"), (-1, 1, "broken"), (0, 0, "broken")],
)
def test_arg_reduce_c5_admits_any_member_wherever_the_position_lies(
    program: str, first: int, second: int, held: str
) -> None:
    seen = Observation(results={"p": positions(first, second)})
    found = verdict(meaning(case(PROGRAMS[program], "p")), Answer(seen))
    assert (found.clauses.get("arg_reduce.C5", "held"), found.outcome) == (
        held,
        "passed" if held == "held" else "failed",
    )


@pytest.mark.parametrize(("first", "outcome"), [(0, "passed"), (NOWHERE, "passed"), (7, "failed")])
def test_arg_reduce_c5_what_is_made_of_an_admitted_position_is_no_mistake_of_another_collective(
    first: int, outcome: str
) -> None:
    asked = case((GREATEST, call("broadcast", "p", "q", root=0)), "p", "q")
    found = verdict(meaning(asked), Answer(Observation(results={"p": positions(first), "q": positions(first)})))
    assert found.outcome == outcome
    assert "broadcast.C1" not in {clause for clause, word in found.clauses.items() if word == "broken"}


@pytest.mark.parametrize(("total", "held"), [((0, 2), "held"), ((1, 2), "held"), ((0, 3), "broken")])
def test_arg_reduce_c5_says_nothing_of_sums_of_such_positions(total: tuple[int, int], held: str) -> None:
    asked = case((GREATEST, call("all_reduce", "p", "q", op="sum")), "q")
    found = verdict(meaning(asked), Answer(Observation(results={"q": positions(*total)})))
    assert found.clauses.get("arg_reduce.C5", "held") == held
