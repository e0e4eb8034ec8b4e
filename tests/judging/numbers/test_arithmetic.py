"""Which NaNs are arithmetic's own."""

from __future__ import annotations

from conformance.cases.program.program import Axis, Program, Step
from conformance.judging.numbers.arithmetic import arithmetic


def step(line: str, into: str = "", axes: tuple[str, ...] = (), **attrs: str) -> Step:
    outputs, call = line.split("=")
    op, *inputs = call.split()
    return Step(
        op=op, inputs=tuple(inputs), outputs=tuple(outputs.split()), axes=axes, attrs=attrs, into=tuple(into.split())
    )


def test_a_result_is_arithmetics_when_a_reduction_made_it_at_any_step() -> None:
    steps = (
        step("b = buffer x"), step("v = view b"), step("c = buffer x"), step("t = broadcast x"),
        step("y = all_reduce x", into="v", axes=("i",), op="sum"),
        step("z = broadcast b"), step("k = copy c"), step("= assign c z"),
    )  # fmt: skip
    program = Program(mesh=(Axis("i", 2),), steps=steps, results=())
    assert arithmetic(program) == {"b", "v", "y", "z", "c"}


def test_over_no_axis_a_reduction_makes_no_number() -> None:
    steps = (step("y = all_reduce x", op="sum"), step("z = all_reduce x", axes=("i",), op="sum"))
    assert arithmetic(Program(mesh=(Axis("i", 2),), steps=steps, results=())) == {"z"}
