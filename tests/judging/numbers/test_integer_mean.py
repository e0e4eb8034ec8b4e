"""``reduction.C22``: a mean of integers is the quotient in any dtype, also where ``reduction.C13`` settles which."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer


@pytest.mark.parametrize(
    ("dtype", "terms", "value", "given", "held"),
    [
        ("int32", (3, 4), 3.5, "float32", True),
        ("int32", (3, 4), 3, "int32", True),
        ("int32", (3, 4), 4, "int32", True),
        ("int32", (-3, -4), -3, "int32", True),
        ("int32", (3, 4), 0, "int32", False),
        ("int32", (3, 4), 7, "float32", False),
        ("int32", (3, 4), 3.25, "float64", False),
        ("int32", (2**24 + 1, 2**24 + 1, 0), (2**25 + 2) / 3, "float32", True),
        ("int8", (100, 100), 0, "int8", None),  # whose sum wraps around
        ("bool", (True, False, True), 2 / 3, "float32", True),
        ("bool", (True, True, True), 1 / 3, "float32", False),
        ("uint64", (2**63, 0), 2.0**62, "float64", True),
        ("int32", (60000, 60000), np.inf, "float16", True),  # whose sum that dtype does not have
        ("int32", (3, 4), np.nan, "float16", False),
    ],
)
def test_a_mean_of_integers_is_the_quotient(
    dtype: str, terms: tuple[Any, ...], value: Any, given: str, held: Any
) -> None:
    world = len(terms)
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "mean"})
    blocks = tuple(from_array(np.array([term], dtype)) for term in terms)
    case = Case(
        program=Program(mesh=(Axis("i", world),), steps=(step,), results=("y",)),
        inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * world)},
    )
    seen = verdict(meaning(case), Answer(Observation(results={"y": (from_array(np.array([value], given)),) * world})))
    said = seen.clauses.get("reduction.C22")
    assert (None if said is None else said == "held") is held
