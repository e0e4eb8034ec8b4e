"""The pictures and small examples of the specification say what the reference computes."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from conformance.cases.program.program import Axis, Step
from conformance.cases.program.step_line import step_line
from conformance.cases.types.typed_case import Level
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.transforms.batching import batched
from conformance.reference.transforms.pullback import pullback
from conformance.specification.notation import notation_lines
from conformance.specification.pictures import PICTURES, picture_lines
from conformance.specification.sharding import sharding_lines
from conformance.specification.steps import PARTS, step_lines
from conformance.specs import OPS

MESH = (Axis(name="i", size=2),)


def test_a_picture_shows_which_elements_a_result_has() -> None:
    assert set(PICTURES) <= set(OPS)
    assert "rank 1  [b0  b1  b2]   ->   [a1+b1+c1]" in picture_lines("reduce_scatter")
    assert "rank 1  [b0  b1  b2]   [.  .  .  .]   ->   [a1  a2  b1  .]" in picture_lines("ragged_all_to_all")
    assert picture_lines("axis_size") == []


def test_groups_of_a_step_are_positions_and_those_of_a_function_ranks() -> None:
    assert "| `j, i` | {0 1 3} {2} | {0 2 3} {1} |" in notation_lines()


def test_the_picture_of_a_mask_leaves_out_what_is_not_real() -> None:
    lines = sharding_lines()
    assert lines[lines.index("(1)      [?]") - 1 :][:3] == ["(0)      [a b]", "(1)      [?]", "(2)      [c d]"]


def test_the_example_of_a_transpose_is_what_comes_back() -> None:
    step = TypedStep(
        op="reduce_scatter", inputs=("a",), output="v", axes=("i",), attrs={"op": "sum", "axis": 0, "tiled": True}
    )
    given = {"a": TypedInput(dtype="int32", shape=(2,), varying=("i",))}
    program = TypedProgram(mesh=MESH, inputs=given, steps=(step,), results=("v",))
    found = pullback(program, {"a": [np.zeros(2, np.int32)] * 2}, {"v": [np.array([1]), np.array([5])]})
    assert [block.tolist() for block in found["a"]] == [[1, 5], [1, 5]]


def test_the_example_of_a_level_is_what_mapping_gives() -> None:
    step = TypedStep(op="add", inputs=("a", "a"), output="v")
    given = {"a": TypedInput(dtype="int32", shape=(3,))}
    program = TypedProgram(mesh=MESH, inputs=given, steps=(step,), results=("v",))
    rows = np.array([[1, 2], [3, 4], [5, 6]], np.int32)
    found = batched(program, [Level(name="p", size=2, inputs={"a": 1})], {"a": [rows, rows]})
    assert found["v"][0].tolist() == [[2, 6, 10], [4, 8, 12]]


def test_steps_with_targets_starts_and_ranks_are_written_as_reports_write_them() -> None:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "sum"})
    written = [replace(step, into=("b",)), replace(step, start=True, outputs=("h",)), replace(step, ranks=(0, 2))]
    assert [f"`{step_line(each)}`" for each in written] == list(PARTS)[:3]


def test_the_example_of_a_view_is_what_a_view_shows() -> None:
    assert any("is `[40, 20]`" in line for line in step_lines())
