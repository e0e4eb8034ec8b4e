"""Who conjugates the factors of a complex product is told so; who is wrong otherwise is not."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis
from conformance.cases.tensor.tensor import from_array
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.judging.verdict import Verdict
from conformance.reference.transforms.meaning import typed_meaning
from conformance.specs.types.verdict import judge


def judged(x: complex, y: complex, *, factors: tuple[complex, complex] = (1 + 2j, 3j)) -> Verdict:
    """Return the verdict where the product of two factors has these cotangents for the cotangent 1 + i."""
    given = {name: TypedInput(dtype="complex64", shape=(), varying=("i",)) for name in ("x", "y")}
    step = TypedStep(op="multiply", inputs=("x", "y"), output="z")
    program = TypedProgram(mesh=(Axis(name="i", size=1),), inputs=given, steps=(step,), results=("z",))
    one = {name: (from_array(np.complex64(value)),) for name, value in zip("xyz", (*factors, 1 + 1j), strict=True)}
    case = TypedCase(program=program, inputs={"x": one["x"], "y": one["y"]}, cotangents={"z": one["z"]})
    seen = Observation(results={name: (from_array(np.complex64(value)),) for name, value in (("x", x), ("y", y))})
    return judge(typed_meaning(case), seen)


@pytest.mark.parametrize(
    ("x", "y", "said", "blame"),
    [
        (-3 + 3j, -1 + 3j, "held", None),
        (3 - 3j, 3 - 1j, "broken", "transposes.C21"),
        (3 - 3j, -1 + 3j, "broken", "transposes.C21"),
        (-3 + 3j, 3 - 1j, "broken", "transposes.C21"),
        (3 - 3j, 0, "broken", "transposes.C21"),
        (-3 + 3j, 0, None, "transposes.C14"),
    ],
)
def test_conjugate_factors_are_blamed_apart(x: complex, y: complex, said: str | None, blame: str | None) -> None:
    found = judged(x, y)
    assert (found.clauses.get("transposes.C21"), found.blame and found.blame.id) == (said, blame)


def test_transposes_c21_says_nothing_of_factors_that_are_their_own_conjugates() -> None:
    assert "transposes.C21" not in judged(3 + 3j, 2 + 2j, factors=(2, 3)).clauses
