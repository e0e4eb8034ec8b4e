"""Means and scaled sums of what steps computed, beside storage, where a number model scales them in another way."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.declarations.terms import terms
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.qualification.variants.arithmetic import MeanByReciprocal
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

DIVIDED = np.array([[5, 7, 1j], [5, 7, 1j], [0, 0, 5j]], np.complex64)


def case(blocks: np.ndarray, *more: Step) -> Case:
    steps = (
        Step(op="buffer", inputs=("x",), outputs=("b",), axes=()),
        *more,
        Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "mean"}),
    )
    operand = Operand(blocks=tuple(map(from_array, blocks)), layouts=("contiguous",) * len(blocks))
    return Case(program=Program(mesh=(Axis("i", len(blocks)),), steps=steps, results=("y",)), inputs={"x": operand})


def outcome(asked: Case, declared: dict[str, str]) -> str:
    return verdict(meaning(asked), Answer(MeanByReciprocal().execute(asked)), terms(declared=declared)).outcome


@pytest.mark.parametrize(("declared", "found"), [({"mean": "reciprocal"}, "passed"), ({}, "failed")])
def test_a_mean_by_the_reciprocal_is_admitted_where_it_is_declared(declared: dict[str, str], found: str) -> None:
    beside = Step(op="alu", inputs=("b", "b"), outputs=("z",), axes=(), attrs={"op": "eq"})
    assert outcome(case(DIVIDED, beside), declared) == found


def test_a_mean_of_integers_of_4_bits_is_asked_for_no_roundings_of_theirs() -> None:
    assert outcome(case(np.array([[5], [5], [0]], ml_dtypes.uint4)), {"mean": "reciprocal"}) == "passed"
