"""What is started has the type and the value of what is not; one waits for it with its own done, once or again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.cases.case_error import CaseError
from conformance.cases.program.program import Axis
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.starts import DONES, STARTS
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.cases.types.validate import validate
from conformance.reference.transforms.batching import batched
from conformance.reference.transforms.no_rule import NoRule
from conformance.reference.transforms.pullback import pullback
from conformance.reference.types.check import check
from conformance.reference.types.ill_typed import IllTyped
from conformance.reference.types.values import evaluate
from conformance.specs.types.starts import name_of_start

BLOCKS = [np.arange(4.0) + 10 * rank for rank in range(2)]


def step(operation: str, given: str, output: str, /, *axes: str, start: bool = False, **attrs: Any) -> TypedStep:
    return TypedStep(op=operation, inputs=(given,), output=output, axes=axes, attrs=attrs, start=start)


def program(*steps: TypedStep, results: tuple[str, ...] = ()) -> TypedProgram:
    given = TypedInput(dtype="float64", shape=(4,), varying=("i",))
    return TypedProgram(mesh=(Axis(name="i", size=2),), inputs={"x": given}, steps=steps, results=results)


START = step("all_reduce", "x", "t", "i", start=True, op="sum")
DONE = step("done", "t", "y", of="all_reduce")


def test_there_are_ten_starts_and_six_dones() -> None:
    assert (len(STARTS), len(DONES)) == (10, 6)


def test_done_gives_what_the_operation_gives_and_again() -> None:
    steps = (START, DONE, step("done", "t", "z", of="all_reduce"))
    found = evaluate(program(*steps), {"x": BLOCKS})
    assert found["y"][1].tolist() == found["z"][0].tolist() == (BLOCKS[0] + BLOCKS[1]).tolist()
    assert check(program(*steps))["y"] == AxisType()


@pytest.mark.parametrize(
    ("op", "operand", "attrs", "name"),
    [
        ("all_reduce", "varying", {"op": "sum"}, "psum_invariant"),
        ("all_reduce", "unreduced", {"op": "sum"}, "unreduced_psum"),
        ("reduce_scatter", "unreduced", {"op": "sum", "axis": 0, "tiled": True}, "unreduced_reduce_scatter"),
        ("all_gather", "varying", {"axis": 0, "tiled": True, "to": "reduced"}, "all_gather_reduced"),
    ],
)
def test_a_start_is_named_by_the_types_of_its_operand_and_result(
    op: str, operand: Any, attrs: dict[str, Any], name: str
) -> None:
    given = step(op, "u", "t", "i", start=True, **attrs)
    cast = (step("cast", "x", "u", "i", to="unreduced"),) if operand == "unreduced" else ()
    whole = program(*cast, given if cast else step(op, "x", "t", "i", start=True, **attrs))
    validate(whole)
    types = check(whole)
    assert name_of_start(whole.steps[-1], types[whole.steps[-1].inputs[0]], types["t"], checked=True) == name


@pytest.mark.parametrize(
    ("clause", "steps"),
    [
        ("starts.C8", (step("done", "x", "y", of="all_reduce"),)),
        ("starts.C9", (START, step("done", "t", "y", of="all_gather"))),
        ("starts.C10", (START, step("negate", "t", "y"))),
    ],
)
def test_what_is_started_is_waited_for_by_its_own_done(clause: str, steps: tuple[TypedStep, ...]) -> None:
    with pytest.raises(IllTyped) as refused:
        check(program(*steps))
    assert refused.value.clause == clause


@pytest.mark.parametrize(
    "wrong",
    [
        step("shuffle", "x", "t", "i", start=True, sources=(1, 0)),
        step("all_reduce", "x", "t", "i", start=True, op="max"),
    ],
)
def test_nothing_else_can_be_started(wrong: TypedStep) -> None:
    with pytest.raises(CaseError, match="nothing starts"):
        validate(program(wrong))


def test_what_is_started_is_no_result() -> None:
    with pytest.raises(CaseError, match="is only started"):
        validate(program(START, results=("t",)))


def test_no_start_has_a_transpose_or_a_batching_rule() -> None:
    whole = program(START, DONE, results=("y",))
    with pytest.raises(NoRule, match="has no transpose"):
        pullback(whole, {"x": BLOCKS}, {"y": BLOCKS})
    with pytest.raises(NoRule, match="has no batching rule"):
        batched(whole, [], {"x": BLOCKS})
