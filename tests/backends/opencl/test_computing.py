"""Steps that compute on the devices: kernels between collectives, and what is computed in whose kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array
from conformance.judging.schedules.program_graph import program_graph, with_graph
from conformance.specs.schedules import judge


def step(does: str, inputs: str, output: str, /, **attrs: Any) -> Step:
    outputs = (output,) if output else ()
    return Step(op=does, inputs=tuple(inputs.split()), outputs=outputs, axes=(), attrs=attrs)


def met(name: str, output: str, *, start: bool = False) -> Step:
    return Step(op="all_reduce", inputs=(name,), outputs=(output,), axes=("i",), attrs={"op": "sum"}, start=start)


def case(*steps: Step, results: str, layout: Layout = "contiguous", dtype: str = "int32") -> Case:
    blocks = tuple(from_array((np.arange(6).reshape(2, 3) + rank).astype(dtype)) for rank in range(2))
    program = Program(mesh=(Axis("i", 2),), steps=steps, results=tuple(results.split()))
    return Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=(layout,) * 2)})


PROGRAMS = {
    "before, between and after": (
        (
            step("alu", "x x", "a", op="mul"), met("a", "y"), step("cast", "y", "b", to="int8"),
            step("fold", "b", "c", op="max", axes=(1,)), met("c", "z"), step("alu", "z c", "d", op="lt"),
        ),
        "a y b c z d",
    ),
    "a dot of parts": (
        (
            step("buffer", "x", "b"), step("view", "b", "t", start=(1, 0), stop=(-1, 3), step=(-1, 1), order=(1, 0)),
            step("dot", "x t", "a"), met("a", "y"), step("dot", "y x", "c", acc="int64"),
        ),
        "a y c b",
    ),
    "over what is under way": (
        (
            step("buffer", "x", "b"), met("b", "t", start=True), step("alu", "b x", "a", op="add"),
            step("assign", "b a", ""), step("done", "t", "y"), step("alu", "y b", "c", op="sub"),
        ),
        "a y c b",
    ),
    "folds of one term and of nothing": (
        (
            step("fold", "x", "a", op="add", axes=()), step("buffer", "x", "b"),
            step("view", "b", "v", start=(0, 0), stop=(2, 0), step=(1, 1)), step("fold", "v", "n", op="mul", axes=(1,)),
            step("assign", "b a", ""), met("a", "y"),
        ),
        "a n y b",
    ),
}  # fmt: skip


@pytest.mark.parametrize("layout", ["contiguous", "strided", "flipped"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_devices_compute_what_the_reference_does(name: str, layout: Layout, opencl: Any, agree: Any) -> None:
    steps, results = PROGRAMS[name]
    asked = case(*steps, results=results, layout=layout)
    agree(asked, opencl().execute(asked))


@pytest.mark.parametrize(
    ("dtype", "acc"), [("bfloat16", "float32"), ("float16", "float64"), ("float32", "float64"), ("int8", "int32")]
)
@pytest.mark.parametrize("op", ["add", "mul", "min", "max"])
def test_a_fold_of_nothing_in_a_wider_dtype_is_what_changes_nothing(
    dtype: str, acc: str, op: str, opencl: Any, agree: Any
) -> None:
    block = from_array(np.zeros((2, 0), NUMPY[dtype]))
    fold = step("fold", "x", "z", op=op, axes=(1,), acc=acc)
    program = Program(mesh=(Axis("i", 2),), steps=(fold, met("x", "y")), results=("z",))
    asked = Case(program=program, inputs={"x": Operand(blocks=(block, block), layouts=("contiguous",) * 2)})
    agree(asked, opencl().execute(asked))


def test_what_one_step_alone_takes_is_computed_in_its_kernel(opencl: Any, agree: Any) -> None:
    asked = case(
        step("alu", "x x", "a", op="mul"), step("cast", "a", "b", to="int64"),
        step("fold", "b", "c", op="add", axes=(0,)), met("c", "y"), results="y",
    )  # fmt: skip
    backend = opencl()
    agree(asked, backend.execute(asked))
    made = backend.schedule(asked)
    found = [item.provenance for item in made.items if getattr(item, "provenance", ()) and "c[0]" in item.provenance]
    assert found == [("a[0]", "b[0]", "c[0]")]
    assert [each for each in judge(with_graph(made, program_graph(asked))) if each.finding == "broken"] == []


def test_operands_that_do_not_fit_are_refused(opencl: Any) -> None:
    seen = opencl().execute(case(step("alu", "x", "a", op="exp2"), met("a", "y"), results="y"))
    assert seen.errors[0] is not None
    assert "exp2 of int32: it takes float only" in seen.errors[0].message
