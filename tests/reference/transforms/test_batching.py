from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.cases.case_error import CaseError
from conformance.cases.program.program import Axis
from conformance.cases.types.typed_case import Level
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.transforms.batching import batched
from conformance.reference.types.values import evaluate

SLICES = [np.arange(6.0).reshape(2, 3) + 10 * rank for rank in range(2)]


def program(*steps: TypedStep) -> TypedProgram:
    given = TypedInput(dtype="float64", shape=(2,), varying=("i",))
    return TypedProgram(mesh=(Axis(name="i", size=2),), inputs={"x": given}, steps=steps, results=(steps[-1].output,))


def step(operation: str, *axes: str, **attrs: Any) -> TypedStep:
    return TypedStep(op=operation, inputs=("x",), output="y", axes=axes, attrs=attrs)


def level(at: int = 1, **options: Any) -> Level:
    return Level(name="p", size=3, inputs={"x": at}, **options)


def test_a_mapped_program_is_a_loop_over_slices() -> None:
    summed = program(step("all_reduce", "i", op="sum"))
    found = batched(summed, [level(result=1)], {"x": SLICES})["y"]
    for number in range(3):
        alone = evaluate(summed, {"x": [block[:, number] for block in SLICES]})["y"]
        assert all(np.array_equal(found[rank][:, number], alone[rank]) for rank in range(2))


def test_the_slices_are_members_along_the_mapped_axis() -> None:
    found = batched(program(step("all_reduce", "p", op="sum")), [level()], {"x": SLICES})["y"]
    assert found[1].tolist() == [SLICES[1].sum(axis=1).tolist()] * 3


@pytest.mark.parametrize(("axes", "first"), [(("p", "i"), 1), (("i", "p"), 3)])
def test_the_first_of_mixed_axes_is_the_major_one(axes: tuple[str, ...], first: int) -> None:
    moved = program(step("permute", *axes, pairs=((0, first),)))
    found = batched(moved, [level()], {"x": SLICES})["y"]
    assert found[1][0].tolist() == SLICES[0][:, 0].tolist()


def test_an_axis_behind_those_of_the_results_is_refused() -> None:
    with pytest.raises(CaseError, match="puts its axis at 2 of a result that has 1 axes"):
        batched(program(step("all_reduce", "i", op="sum")), [level(result=2)], {"x": SLICES})
