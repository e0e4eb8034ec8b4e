"""Who conjugates the factors of a complex product is told so; who is wrong otherwise is not."""

from __future__ import annotations

import numpy as np

from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis
from conformance.cases.tensor.tensor import from_array
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.transforms.meaning import typed_meaning
from conformance.specs.types.verdict import judge


def blamed(x: complex, y: complex) -> str | None:
    """Return what is to blame where x (1 + 2i) times y (3i) has these cotangents for the cotangent 1 + i."""
    given = {name: TypedInput(dtype="complex64", shape=(), varying=("i",)) for name in ("x", "y")}
    step = TypedStep(op="multiply", inputs=("x", "y"), output="z")
    program = TypedProgram(mesh=(Axis(name="i", size=1),), inputs=given, steps=(step,), results=("z",))
    one = {name: (from_array(np.complex64(value)),) for name, value in (("x", 1 + 2j), ("y", 3j), ("z", 1 + 1j))}
    case = TypedCase(program=program, inputs={"x": one["x"], "y": one["y"]}, cotangents={"z": one["z"]})
    seen = Observation(results={name: (from_array(np.complex64(value)),) for name, value in (("x", x), ("y", y))})
    verdict = judge(typed_meaning(case), seen)
    return verdict.blame.id if verdict.blame else None


def test_conjugate_factors_are_blamed_apart() -> None:
    assert blamed(-3 + 3j, -1 + 3j) is None
    assert blamed(3 - 3j, 3 - 1j) == "transposes.C21"
    assert blamed(-3 + 3j, 0) == "transposes.C14"
