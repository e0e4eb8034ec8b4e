from __future__ import annotations

from typing import Any

import pytest

from conformance.cases.program.program import Axis
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.types.check import check
from conformance.reference.types.ill_typed import IllTyped

VARYING = TypedInput(dtype="int32", shape=(4,), varying=("i",))
INVARIANT = TypedInput(dtype="int32", shape=(4,))


def program(*steps: TypedStep, **options: Any) -> TypedProgram:
    mesh = (Axis(name="i", size=2), Axis(name="j", size=2))
    return TypedProgram(mesh=mesh, inputs={"v": VARYING, "n": INVARIANT}, steps=steps, results=(), **options)


def step(
    operation: str, /, *inputs: str, output: str = "out", axes: tuple[str, ...] = ("i",), **attrs: Any
) -> TypedStep:
    return TypedStep(op=operation, inputs=inputs, output=output, axes=axes, attrs=attrs)


def cast(value: str, output: str, to: str, *axes: str) -> TypedStep:
    return step("cast", value, output=output, axes=axes or ("i",), to=to)


def test_a_sum_of_a_varying_operand_is_invariant() -> None:
    assert check(program(step("all_reduce", "v", op="sum")))["out"] == AxisType()


def test_a_sum_of_a_pending_sum_is_invariant() -> None:
    assert check(program(cast("v", "u", "unreduced"), step("all_reduce", "u", op="sum")))["out"] == AxisType()


def test_an_invariant_operand_is_cast_to_varying() -> None:
    assert check(program(step("permute", "n", pairs=((0, 1),))))["out"] == AxisType(varying=("i",))


@pytest.mark.parametrize("to", ["varying", "invariant", "reduced"])
def test_all_gather_gives_the_state_that_is_asked_for(to: Any) -> None:
    found = check(program(step("all_gather", "v", axis=0, tiled=True, to=to)))["out"]
    assert found.state("i") == to


def test_a_pending_sum_times_a_reduced_factor_is_a_pending_sum() -> None:
    steps = (cast("v", "u", "unreduced"), cast("n", "r", "reduced"), step("multiply", "u", "r", axes=()))
    assert check(program(*steps))["out"] == AxisType(unreduced=("i",))


def test_without_casts_a_mean_may_vary_along_its_own_axes_and_an_index_has_one() -> None:
    steps = (step("all_reduce", "v", op="mean", output="m"), step("axis_index", axes=("j",)))
    found = check(program(*steps, automatic=False))
    assert (found["m"], found["out"]) == (AxisType(), AxisType(varying=("j",)))


def test_checks_off_leave_no_types() -> None:
    assert check(program(cast("v", "w", "varying"), checked=False))["w"] == AxisType()


U, R = cast("v", "u", "unreduced"), cast("n", "r", "reduced")


@pytest.mark.parametrize(
    ("clause", "steps", "options"),
    [
        ("types.C1", (step("all_reduce", "v", axes=("i", "j"), op="sum"),), {"mapped": ("i",)}),
        ("types.C2", (step("permute", "n", pairs=()),), {"automatic": False}),
        ("types.C2", (step("broadcast", "n", root=0),), {}),
        ("types.C2", (step("axis_index", axes=("i", "j")),), {"automatic": False}),
        (
            "types.C2",
            (cast("v", "w", "varying", "j"), step("all_reduce", "w", axes=("j",), op="mean")),
            {"automatic": False},
        ),
        ("types.C3", (cast("n", "u", "unreduced"),), {}),
        ("types.C3", (cast("v", "r", "reduced"),), {}),
        ("types.C4", (step("all_reduce", "v", axes=("i", "j"), op="sum"),), {}),
        ("types.C4", (cast("v", "w", "varying", "i", "j"),), {}),
        ("types.C5", (U, step("all_reduce", "u", op="max")), {}),
        ("types.C5", (R, step("permute", "r", pairs=())), {}),
        ("types.C6", (step("all_gather", "n", axis=0, tiled=True, to="reduced"),), {}),
        ("types.C7", (R, cast("r", "w", "varying", "j"), step("all_reduce", "w", axes=("j",), op="mean")), {}),
        ("types.C8", (R, step("add", "r", "n", axes=())), {}),
        ("types.C9", (U, step("add", "u", "n", axes=())), {}),
        ("types.C9", (U, step("maximum", "u", "u", axes=())), {}),
        ("types.C10", (U, step("multiply", "u", "u", axes=())), {}),
        ("types.C10", (U, step("multiply", "u", "n", axes=())), {}),
    ],
)
def test_a_program_is_refused_by_the_rule_it_breaks(
    clause: str, steps: tuple[TypedStep, ...], options: dict[str, Any]
) -> None:
    with pytest.raises(IllTyped) as refused:
        check(program(*steps, **options))
    assert refused.value.clause == clause
    assert f"step {len(steps) - 1}" in str(refused.value)
