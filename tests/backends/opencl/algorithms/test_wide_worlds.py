"""Worlds of more ranks than the common kernels take storages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.reference.spmd import evaluate
from tests.backends.opencl.conftest import OpenBackend

CALLS: dict[str, dict[str, Any]] = {
    "all_reduce": {"op": "mean"},
    "arg_reduce": {"op": "max"},
    "reduce_scatter": {"op": "sum", "axis": 0, "tiled": True},
    "all_gather": {"axis": 0, "tiled": True},
}


@pytest.mark.parametrize("world", [9, 64])
@pytest.mark.parametrize("op", list(CALLS))
def test_a_world_of_many_ranks_has_the_values_of_the_reference(op: str, world: int, opencl: OpenBackend) -> None:
    step = Step(op=op, inputs=("a",), outputs=("y",), axes=("x",), attrs=CALLS[op])
    program = Program(mesh=(Axis(name="x", size=world),), steps=(step,), results=("y",))
    draws = (np.random.default_rng(rank).integers(-5, 6, 2 * world) for rank in range(world))
    blocks = tuple(from_array(each.astype(np.float32)) for each in draws)
    case = Case(program=program, inputs={"a": Operand(blocks=blocks, layouts=("contiguous",) * world)})
    found, wanted = opencl().execute(case).results["y"], evaluate(case)["y"]
    for seen, right in zip(found, wanted, strict=True):
        assert seen is not None
        assert right is not None
        assert np.array_equal(to_array(seen), right)
