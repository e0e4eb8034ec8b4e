"""A permute without pairs moves nothing, and is lowered all the same."""

from __future__ import annotations

from conformance.backends.opencl.typed.lowering import lowered
from conformance.cases.program.program import Axis
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep


def test_a_permute_without_pairs_is_lowered() -> None:
    step = TypedStep(op="permute", inputs=("a",), output="b", axes=("i",), attrs={"pairs": ()})
    given = {"a": TypedInput(dtype="int64", shape=(1,), varying=("i",))}
    (fact,) = lowered(TypedProgram(mesh=(Axis("i", 1),), inputs=given, steps=(step,), results=("b",)))
    assert (fact.op, fact.groups) == ("permute", ())
