"""Ranks that run different steps on the devices: groups as worlds of their own, and named errors."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.case import Case, Fault, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array, to_array
from tests.backends.opencl.conftest import OpenBackend

PAIRS = ((0, 1), (2, 3))
OTHERS = ((1, 0), (3, 2))


def step(
    name: str, ranks: tuple[int, ...] | None, op: str = "sum", groups: tuple[tuple[int, ...], ...] = PAIRS
) -> Step:
    return Step(
        op="all_reduce", inputs=("x",), outputs=(name,), axes=("i",), groups=groups, attrs={"op": op}, ranks=ranks
    )


def case(*steps: Step, faults: tuple[Fault, ...] = ()) -> Case:
    """Rank r holds [r] in x."""
    blocks = tuple(from_array(np.array([rank], np.int32)) for rank in range(4))
    program = Program(mesh=(Axis("i", 4),), steps=steps, results=tuple(each.outputs[0] for each in steps))
    return Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 4)}, faults=faults)


def test_each_group_is_a_world_of_its_own(opencl: OpenBackend) -> None:
    seen = opencl().execute(case(step("y", (0, 1)), step("z", (2,), "max"), step("u", (3,), "max")))
    found = {name: [block and to_array(block).tolist() for block in blocks] for name, blocks in seen.results.items()}
    assert found == {"y": [[1], [1], None, None], "z": [None, None, [3], None], "u": [None, None, None, [3]]}


@pytest.mark.parametrize(
    ("error", "steps"),
    [
        ("CallsDifferError", (step("y", (0,)), step("z", (1, 2, 3), "max"))),
        ("GroupsDifferError", (step("y", (0,), groups=OTHERS), step("z", (1, 2, 3)))),
        ("MemberDoneError", (step("y", (0,)), step("z", (2, 3)))),
    ],
)
def test_ranks_that_cannot_go_on_are_refused_before_anything_runs(
    opencl: OpenBackend, error: str, steps: tuple[Step, ...]
) -> None:
    seen = opencl().execute(case(*steps))
    assert {each and (each.kind, each.category) for each in seen.errors} == {(error, "invalid_argument")}


def test_no_rank_is_late_or_dies_here(opencl: OpenBackend) -> None:
    seen = opencl().execute(case(step("y", None), faults=(Fault(rank=0, before=0, delay=0.1),)))
    assert {each and each.category for each in seen.errors} == {"unsupported"}
