"""Gradients through tensors that are split over devices are the transposes."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.observing import typed
from conformance.backends.tinygrad import TinyGrad
from conformance.cases.program.program import Attr, Axis
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.transforms.meaning import typed_meaning
from conformance.specs.types.verdict import judge

CALLS: dict[str, tuple[dict[str, Attr], tuple[int, ...]]] = {
    "all_gather": ({"axis": 1, "tiled": True, "to": "invariant"}, (2, 4)),
    "all_reduce": ({"op": "mean"}, (2, 2)),
    "all_to_all": ({"split_axis": 0, "concat_axis": 1, "tiled": True}, (1, 4)),
    "broadcast": ({"root": 1}, (2, 2)),
    "permute": ({"pairs": ((0, 1),)}, (2, 2)),
    "reduce_scatter": ({"op": "sum", "axis": 0, "tiled": False}, (2,)),
    "shuffle": ({"sources": (1, 0)}, (2, 2)),
}


def blocks(shape: tuple[int, ...], *, alike: bool = False) -> tuple[Tensor, ...]:
    numbers = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return tuple(from_array(numbers + (0 if alike else rank)) for rank in range(2))


@pytest.mark.parametrize("op", sorted(CALLS))
def test_gradients_are_the_transposes(tinygrad: TinyGrad, op: str) -> None:
    attrs, out = CALLS[op]
    program = TypedProgram(
        mesh=(Axis(name="i", size=2),),
        inputs={"a": TypedInput(dtype="float32", shape=(2, 2), varying=("i",))},
        steps=(TypedStep(op=op, inputs=("a",), output="b", axes=("i",), attrs=attrs),),
        results=("b",),
    )
    alike = op == "all_reduce" or attrs.get("to") == "invariant"
    case = TypedCase(program=program, inputs={"a": blocks((2, 2))}, cotangents={"b": blocks(out, alike=alike)})
    assert judge(typed_meaning(case), typed(tinygrad, case)).outcome == "passed"
