"""The small program that is run after one with trouble: whether the same ranks still compute."""

from __future__ import annotations

from functools import cache

import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.layout import Layout
from conformance.cases.program import Axis, Program, Step
from conformance.cases.tensor import from_array


@cache
def health_case(mesh: tuple[Axis, ...]) -> Case:
    """Return the sum over all ranks of one int32 element each, which is the rank and one."""
    axes = tuple(axis.name for axis in mesh)
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=axes, attrs={"op": "sum"})
    program = Program(mesh=mesh, steps=(step,), results=("y",))
    blocks = tuple(from_array(np.array([rank + 1], np.int32)) for rank in range(program.world))
    layout: Layout = "contiguous"
    return Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=(layout,) * program.world)})
