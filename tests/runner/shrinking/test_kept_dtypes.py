"""Which failing cases a smallest one stands for."""

from __future__ import annotations

import pytest

from conformance.cases.declarations.terms import terms
from conformance.judging.verdict import Verdict
from conformance.runner.dialects import operations
from conformance.runner.shrinking.kept_dtypes import of_another_dtype

CLAUSES = {clause.id: clause for clause in operations()["all_reduce"].clauses("all_reduce", terms())}


@pytest.mark.parametrize(
    ("clause", "outcome", "small", "other", "apart"),
    [
        ("reduction.C1", "failed", "float8_e8m0fnu", "bfloat16", True),
        ("reduction.C1", "failed", "float8_e8m0fnu", "bfloat16+float8_e8m0fnu", False),
        ("reduction.C1", "failed", "int32", "bfloat16", False),
        ("collective.C15", "failed", "float8_e8m0fnu", "bfloat16", False),
        ("reduction.C1", "errored", "float8_e8m0fnu", "bfloat16", False),
    ],
)
def test_a_case_that_kept_its_dtype_stands_for_that_alone(
    clause: str, outcome: str, small: str, other: str, apart: bool
) -> None:
    judged = Verdict(
        outcome=outcome, clauses={clause: "broken"}, blame=CLAUSES[clause], detail="1 of 1 elements differ"
    )
    names = f"all_reduce/{small}-2/1", f"all_reduce/{other}-7/2"
    assert of_another_dtype(*names, judged, list(CLAUSES.values())) == apart
