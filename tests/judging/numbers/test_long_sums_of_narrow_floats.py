"""Sums of many narrow floats, whose trees are too many, and products of which a factor leaves nothing to round."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array
from conformance.judging.numbers.classes import classes_of
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

TINY = 5e-324
OVERFLOWING = [448.0, 384, 320, 256] * 6 + [288.0, 352, 416, 448]
GREAT = [65504.0 - 32 * at for at in range(40)]
POSITIVE = [1.0, 1.125, 1.25, 1.5, 2] * 8


def judged(op: str, dtype: str, terms: list[complex], value: complex, **attrs: object) -> dict[str, str]:
    """Return what clauses say of a value that all ranks received of a reduction."""
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": op, **attrs})
    blocks = tuple(from_array(np.array([term]).astype(NUMPY[dtype])) for term in terms)
    operand = Operand(blocks=blocks, layouts=("contiguous",) * len(terms))
    case = Case(program=Program(mesh=(Axis("i", len(terms)),), steps=(step,), results=("y",)), inputs={"x": operand})
    assert verdict(meaning(case), Answer(Reference().execute(case))).outcome == "passed"
    given = from_array(np.array([value]).astype(NUMPY[dtype]))
    return verdict(meaning(case), Answer(Observation(results={"y": (given,) * len(terms)}))).clauses


@pytest.mark.parametrize(
    ("clause", "op", "dtype", "terms", "value", "held"),
    [
        ("numerics.C15", "sum", "float8_e4m3fn", OVERFLOWING, 448, "broken"),
        ("numerics.C15", "sum", "float8_e4m3fn", OVERFLOWING, 1, "broken"),
        ("numerics.C15", "mean", "float8_e4m3fn", OVERFLOWING, 448, "broken"),
        ("numerics.C15", "sum", "float8_e4m3fn", OVERFLOWING, np.nan, "held"),
        ("numerics.C14", "premul_sum", "float16", GREAT, -np.inf, "broken"),
        ("numerics.C14", "premul_sum", "float16", GREAT, np.nan, "broken"),
        ("numerics.C14", "premul_sum", "float16", GREAT, np.inf, "held"),
        ("numerics.C1", "sum", "float8_e4m3fn", POSITIVE, 0, "broken"),
        ("numerics.C1", "sum", "float8_e4m3fn", POSITIVE, -1, "broken"),
        ("numerics.C1", "sum", "float8_e4m3fn", POSITIVE, 52, "held"),
        ("numerics.C2", "mean", "float8_e4m3fn", POSITIVE, 0, "broken"),
    ],
)
def test_a_long_sum_of_one_sign_goes_no_further_than_its_terms(
    clause: str, op: str, dtype: str, terms: list[complex], value: float, held: str
) -> None:
    attrs = {"factor": 2.0} if op == "premul_sum" else {}
    assert judged(op, dtype, terms, value, **attrs)[clause] == held


@pytest.mark.parametrize(
    ("clause", "terms", "value", "held"),
    [
        ("numerics.C12", [TINY, 1], 0, "broken"),
        ("numerics.C12", [TINY, 1], 2 * TINY, "broken"),
        ("numerics.C12", [TINY, 1], TINY, "held"),
        ("numerics.C25", [0, 1 + 2j], TINY, "broken"),
        ("numerics.C25", [0, 1 + 2j, 3 - 1j], complex(0, TINY), "broken"),
        ("numerics.C25", [0, 1 + 2j], 0, "held"),
    ],
)
def test_a_complex_product_of_which_nothing_underflows_loses_nothing(
    clause: str, terms: list[complex], value: complex, held: str
) -> None:
    assert judged("product", "complex128", terms, value)[clause] == held


@pytest.mark.parametrize(
    ("dtype", "words"),
    [("float8_e4m3fn", {("accumulate", "float32")}), ("float16", {("accumulate", "float32"), ("between", "own")})],
)
def test_a_long_sum_in_a_wider_accumulator_overflows_at_the_end_or_where_it_is_sent(
    dtype: str, words: set[tuple[str, str]]
) -> None:
    terms = np.array(OVERFLOWING if dtype != "float16" else GREAT).astype(NUMPY[dtype])
    past = np.array([np.inf]).astype(NUMPY[dtype])
    assert classes_of(dtype, "sum", 1.0, terms.tobytes(), past.tobytes(), exact=False, words=frozenset(words))
