"""What came back for a transposed program is compared without falling over it."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import Axis
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.transforms.meaning import typed_meaning
from conformance.specs.types.verdict import judge

ONES = tuple(from_array(np.ones(2, np.float32)) for _ in range(2))
STEP = TypedStep(op="permute", inputs=("x",), output="y", axes=("i",), attrs={"pairs": ((0, 1), (1, 0))})
PROGRAM = TypedProgram(
    mesh=(Axis(name="i", size=2),),
    inputs={"x": TypedInput(dtype="float32", shape=(2,), varying=("i",))},
    steps=(STEP,),
    results=("y",),
)
CASE = TypedCase(program=PROGRAM, inputs={"x": ONES}, cotangents={"y": ONES})


@pytest.mark.parametrize(
    "wrong",
    [
        (ONES[0], None),
        (ONES[0], from_array(np.ones(3, np.float32))),
        (ONES[0], from_array(np.array([1, np.nan], np.float32))),
        (ONES[0], from_array(np.array([1, np.inf], np.float32))),
        (),
    ],
)
def test_what_cannot_be_paired_is_a_failure_with_a_message(wrong: tuple[Tensor | None, ...]) -> None:
    verdict = judge(typed_meaning(CASE), Observation(results={"x": wrong}))
    assert verdict.outcome == "failed"
    assert verdict.detail


def test_a_legal_program_that_raised_breaks_its_clause_of_acceptance() -> None:
    error = RankError(kind="ValueError", category="backend", message="no\nmore")
    verdict = judge(typed_meaning(TypedCase(program=PROGRAM, inputs={"x": ONES})), Observation(errors=(error,) * 2))
    assert (verdict.outcome, verdict.detail) == ("errored", "raised ValueError: no")
    assert verdict.clauses == {"types.C11": "broken"}
