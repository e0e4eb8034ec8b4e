"""The meaning of programs with effects is eager execution in list order."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.program.program import Axis, Program, Step
from conformance.reference.operations import OPERATIONS
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import run


def step(line: str, **more: object) -> Step:
    """Return the step ``outputs = op inputs``; a collective spans the axis i."""
    outputs, call = line.split("=")
    op, *inputs = call.split()
    collective = op in OPERATIONS
    fields = {"axes": ("i",) if collective else (), "attrs": {"op": "sum"} if op == "all_reduce" else {}, **more}
    return Step(op=op, inputs=tuple(inputs), outputs=tuple(outputs.split()), **fields)


def outcome(results: str, *steps: Step, world: int = 2) -> list[list[int]]:
    """Return rank 0's results; rank r holds [1, 2] + 10 r in x."""
    inputs = {"x": [np.array([1, 2], np.int32) + 10 * rank for rank in range(world)]}
    program = Program(mesh=(Axis("i", world),), steps=steps, results=tuple(results.split()))
    values = run(Case(program=program, inputs={}), inputs, OPERATIONS)
    return [np.asarray(values[name][0]).tolist() for name in program.results]


HALF = step("v = view b", attrs={"start": (1,), "stop": (2,), "step": (1,)})
BUFFER = step("b = buffer x")


def test_into_returns_the_written_storage() -> None:
    steps = (BUFFER, step("y = all_reduce b", into=("b",)), step("= assign b x"))
    assert outcome("b y", *steps) == [[1, 2], [1, 2]]


def test_a_result_out_of_place_is_fresh_even_over_no_axis() -> None:
    steps = (BUFFER, step("y = all_reduce b"), step("w = all_reduce b", axes=()), step("z = all_reduce y", into=("b",)))
    assert outcome("y w b", *steps) == [[12, 14], [1, 2], [24, 28]]


def test_a_started_collective_reads_at_its_start_and_has_written_before_done() -> None:
    steps = (BUFFER, step("t = all_reduce b", into=("b",), start=True), step("c = copy b"), step("= assign b x"))
    assert outcome("c y", *steps, step("y = done t")) == [[12, 14], [1, 2]]


def test_all_operands_are_read_before_any_target_is_written() -> None:
    steps = (BUFFER, step("c = buffer x"), step("y z = all_reduce b c", into=("c", "b")))
    assert outcome("y z", *steps) == [[12, 14], [12, 14]]


def test_a_view_is_a_part_and_nothing_else_is_written() -> None:
    assert outcome("b", BUFFER, HALF, step("y = all_reduce v", into=("v",))) == [[1, 14]]


@pytest.mark.parametrize(
    ("clause", "steps"),
    [
        ("aliasing.C15", (BUFFER, HALF, step("y = all_reduce b", into=("v",)))),
        ("aliasing.C16", (BUFFER, step("y = all_reduce b", attrs={"op": "mean"}, into=("b",)))),
        ("aliasing.C17", (BUFFER, step("y = all_reduce b", into=("b", "b")))),
        ("aliasing.C18", (BUFFER, step("y = all_gather b", attrs={"axis": 0, "tiled": True}, into=("b",)))),
    ],
)
def test_a_target_that_does_not_fit_is_rejected(clause: str, steps: tuple[Step, ...]) -> None:
    with pytest.raises(Rejected) as caught:
        outcome("b", *steps)
    assert caught.value.clause == clause


def test_an_assigned_value_must_fit() -> None:
    with pytest.raises(CaseError, match=r"step 2 \(assign\) writes int32 \(2,\) into int32 \(1,\); they must be alike"):
        outcome("b", BUFFER, HALF, step("= assign v x"))
