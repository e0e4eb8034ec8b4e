"""Programs of several steps shrink, and what their inputs hold stays related."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.cases.case import Case, Operand
from conformance.cases.codec import load
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.program.validate import validate
from conformance.cases.tensor.tensor import from_array
from conformance.qualification.mutants.determinism import (
    AddsInOrderOfArrival,
    FoldsByRankNumber,
    LongMessagesTakeTheRing,
    TailFoldsBackwards,
)
from conformance.runner.explore import explore
from conformance.runner.plan import Plan
from conformance.runner.reductions.joint import together
from conformance.runner.reductions.programs import reductions
from conformance.runner.worker.in_process import InProcess


def two_calls(*extents: int) -> Case:
    """Return two reduces of blocks that hold the same two values by turns."""
    inputs = {
        f"x{n}": Operand(
            blocks=tuple(from_array(np.resize([1.0 + rank, -1.0], (extent, 2))) for rank in range(4)),
            layouts=("contiguous",) * 4,
        )
        for n, extent in enumerate(extents)
    }
    groups = ((3, 1), (0, 2))
    steps = tuple(
        Step(op="reduce", inputs=(x,), outputs=(f"y{x}",), axes=("i",), groups=groups, attrs={"op": "sum", "root": 1})
        for x in inputs
    )
    results = tuple(step.outputs[0] for step in steps)
    return Case(program=Program(mesh=(Axis("i", 4),), steps=steps, results=results), inputs=inputs)


def test_what_is_smaller_is_smaller_in_every_step_and_every_input() -> None:
    found = list(together(two_calls(4, 6)))
    assert {step.groups for step in found[0].program.steps} == {None}
    assert {step.groups for step in found[1].program.steps} == {((0, 2), (1, 3))}
    assert {step.attrs["root"] for step in found[2].program.steps} == {0}
    shapes = [tuple(operand.blocks[0].shape for operand in case.inputs.values()) for case in found]
    assert {((1, 2), (1, 2)), ((2, 2), (3, 2)), ((3, 2), (5, 2)), ((2, 2), (4, 2)), ((4,), (6,))} <= set(shapes)


def test_a_value_becomes_zero_wherever_it_is() -> None:
    zeroed = [case for case in together(two_calls(1, 2)) if case.inputs["x0"].blocks[0].shape == (1, 2)]
    assert any(
        all(block.bits.endswith("0" * 16) for operand in case.inputs.values() for block in operand.blocks)
        for case in zeroed
    )


def test_reductions_of_several_steps_are_well_formed_and_keep_no_input_of_a_step_that_is_gone() -> None:
    for case in reductions(two_calls(2, 4)):
        validate(case)
        if len(case.program.steps) == 1:
            assert set(case.inputs) == set(case.program.steps[0].inputs)


@pytest.mark.parametrize(
    ("mistake", "steps", "elements"),
    [
        (TailFoldsBackwards, 1, 5),
        pytest.param(AddsInOrderOfArrival, 2, 4, marks=pytest.mark.slow),
        (FoldsByRankNumber, 2, 2),
        pytest.param(LongMessagesTakeTheRing, 2, 66, marks=pytest.mark.slow),
    ],
)
def test_failures_between_results_become_small(
    mistake: type[Backend], steps: int, elements: int, tmp_path: Path
) -> None:
    worker = InProcess(BackendSpec("it", ()), backend=mistake())
    result = explore(Plan(ops=("all_reduce",), examples=120, suites=("determinism",)), {"it": worker}, tmp_path)
    failure = next(f for f in result.failures if f.clause == mistake.breaks)
    case = load(tmp_path / failure.file)
    assert failure.minimal
    assert len(case.program.steps) == steps
    assert case.program.world == 3
    assert sum(int(np.prod(operand.blocks[0].shape)) for operand in case.inputs.values()) <= elements
