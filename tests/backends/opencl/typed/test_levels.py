"""Programs mapped over levels, some of whose slices meet and others of which are an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.typed.levels import LevelError, meeting
from conformance.cases.case_error import CaseError
from conformance.cases.program.program import Axis
from conformance.cases.types.typed_case import Level
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.transforms.batching import batched


def program(*steps: TypedStep, shape: tuple[int, ...] = (4,)) -> TypedProgram:
    given = TypedInput(dtype="int32", shape=shape, varying=("i",))
    return TypedProgram(mesh=(Axis(name="i", size=2),), inputs={"x": given}, steps=steps, results=(steps[-1].output,))


def step(operation: str, *axes: str, **attrs: Any) -> TypedStep:
    return TypedStep(op=operation, inputs=("x",), output="y", axes=axes, attrs=attrs)


def level(name: str, size: int, at: int | None, result: int = 0) -> Level:
    return Level(name=name, size=size, inputs={} if at is None else {"x": at}, result=result)


GATHER = step("all_gather", "i", axis=0, tiled=False, to="varying")
SUM = step("all_reduce", "p", op="sum")
BOTH = step("all_reduce", "i", "p", op="sum")


@pytest.mark.parametrize(
    ("asked", "levels", "shape"),
    [
        (GATHER, [level("p", 3, 0, 2)], (3, 4)),
        (GATHER, [level("p", 3, 1)], (4, 3)),
        (GATHER, [level("p", 3, None, 1)], (4,)),
        (SUM, [level("p", 3, 0, 1)], (3, 4)),
        (BOTH, [level("q", 2, 2, 1), level("p", 3, 0, 1)], (3, 4, 2)),
        (BOTH, [level("p", 3, 1), level("q", 2, 0, 1)], (2, 3, 4)),
        (BOTH, [level("q", 2, None), level("p", 3, 0), level("r", 5, 1, 1)], (3, 4, 5)),
    ],
)
def test_a_level_is_an_axis_or_its_slices_are_members(
    asked: TypedStep, levels: list[Level], shape: tuple[int, ...]
) -> None:
    size = int(np.prod(shape))
    blocks = {"x": [np.arange(size, dtype=np.int32).reshape(shape) + 100 * rank for rank in range(2)]}
    wanted = batched(program(asked), levels, blocks)["y"]
    found = OpenCL().batched(program(asked), levels, blocks)["y"]
    assert [block.tolist() for block in found] == [block.tolist() for block in wanted]


def test_only_slices_that_meet_are_members() -> None:
    assert [each.name for each in meeting(program(SUM), [level("q", 2, 0), level("p", 3, 0)])] == ["p"]


def test_more_members_than_ranks_that_are_claimed_are_no_obstacle_where_they_do_not_meet() -> None:
    blocks = {"x": [np.arange(400, dtype=np.int32).reshape(100, 4) * rank for rank in range(2)]}
    found = OpenCL().batched(program(GATHER), [level("p", 100, 0)], blocks)["y"]
    assert found[1][99].tolist() == [[0, 0, 0, 0], [396, 397, 398, 399]]


@pytest.mark.parametrize("asked", [GATHER, SUM])
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (level("p", 3, 4), r"level 'p' has 3 slices along axis 4 of 'x', whose blocks have the shape \[4, 3\] there"),
        (level("p", 3, -1), "axis -1 of 'x'"),
        (level("p", 4, 1), r"4 slices along axis 1 of 'x', whose blocks have the shape \[4, 3\] there"),
        (level("p", 2, 1), "2 slices along axis 1"),
        (level("p", 3, 1, 5), "level 'p' puts its axis at 5 of a result that has [12] axes"),
        (level("p", 3, 1, -1), "puts its axis at -1"),
    ],
)
def test_a_level_that_does_not_fit_is_refused_by_name(asked: TypedStep, wrong: Level, told: str) -> None:
    blocks = {"x": [np.zeros((4, 3), np.int32)] * 2}
    with pytest.raises(LevelError, match=told):
        OpenCL().batched(program(asked), [wrong], blocks)


def test_blocks_of_unlike_shapes_are_refused_where_they_are_added() -> None:
    given = TypedInput(dtype="int32", shape=(2,), varying=("i",))
    added = TypedStep(op="add", inputs=("x", "z"), output="y", axes=())
    whole = TypedProgram(
        mesh=(Axis(name="i", size=2),), inputs={"x": given, "z": given}, steps=(added,), results=("y",)
    )
    with pytest.raises(CaseError, match=r"its sources have the shapes \[2\], \[3\]"):
        OpenCL().typed(whole, {"x": [np.zeros(2, np.int32)] * 2, "z": [np.zeros(3, np.int32)] * 2})
