"""What came back for a transposed program is compared without falling over it."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import Axis
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.transforms.meaning import typed_meaning
from conformance.runner.dialects.types import DIALECT, TRANSPOSED
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


def test_types_c13_of_a_result_that_is_not_there_nothing_is_said() -> None:
    step = TypedStep(op="all_reduce", inputs=("x",), output="y", axes=("i",), attrs={"op": "sum"})
    meaning = typed_meaning(TypedCase(program=replace(PROGRAM, steps=(step,)), inputs={"x": ONES}))
    twos = tuple(from_array(np.full(2, 2, np.float32)) for _ in range(2))
    seen = [
        judge(meaning, Observation(results=results)).clauses
        for results in ({"y": twos}, {"y": (*ONES[:1], *twos[:1])}, {})
    ]
    assert [clauses.get("types.C13") for clauses in seen] == ["held", "broken", None]


def test_a_legal_program_that_raised_breaks_its_clause_of_acceptance() -> None:
    error = RankError(kind="ValueError", category="backend", message="no\nmore")
    verdict = judge(typed_meaning(TypedCase(program=PROGRAM, inputs={"x": ONES})), Observation(errors=(error,) * 2))
    assert (verdict.outcome, verdict.detail) == ("errored", "raised ValueError: no")
    assert verdict.clauses == {"types.C11": "broken"}


@pytest.mark.parametrize(
    ("seen", "finding"), [(RankError(kind="E", category="invalid_argument", message="no"), "held"), (None, "broken")]
)
def test_the_rule_that_refuses_a_program_is_a_clause_of_its_transpose_too(seen: RankError | None, finding: str) -> None:
    step = TypedStep(op="cast", inputs=("x",), output="y", axes=("i",), attrs={"to": "varying"})
    case = TypedCase(program=replace(PROGRAM, steps=(step,)), inputs={"x": ONES}, cotangents={"y": ONES})
    observation = Observation(results={"x": ONES}) if seen is None else Observation(errors=(seen, seen))
    found = judge(typed_meaning(case), observation).clauses
    assert found == {"types.C3": finding}
    assert "types.C3" in {clause.id for clause in DIALECT.clauses(TRANSPOSED, Terms())}
