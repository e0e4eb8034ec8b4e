"""Means and scaled sums of what steps computed, beside storage, where a number model scales them in another way."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from msgspec.structs import replace

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
    operand = Operand(blocks=tuple(map(from_array, blocks)), layouts=("contiguous",) * 3)
    return Case(program=Program(mesh=(Axis("i", 3),), steps=steps, results=("y",)), inputs={"x": operand})


def outcome(asked: Case, declared: dict[str, str]) -> str:
    return verdict(meaning(asked), Answer(MeanByReciprocal().execute(asked)), terms(declared=declared)).outcome


@pytest.mark.parametrize(("declared", "found"), [({"mean": "reciprocal"}, "passed"), ({}, "failed")])
def test_a_mean_by_the_reciprocal_is_admitted_where_it_is_declared(declared: dict[str, str], found: str) -> None:
    beside = Step(op="alu", inputs=("b", "b"), outputs=("z",), axes=(), attrs={"op": "eq"})
    assert outcome(case(DIVIDED, beside), declared) == found


def test_a_mean_of_integers_of_4_bits_beside_a_sum_that_rounds_has_one_value() -> None:
    asked = case(np.array([[5], [5], [0]], ml_dtypes.uint4), Step(op="copy", inputs=("w",), outputs=("c",), axes=()))
    rounding = Step(op="all_reduce", inputs=("w",), outputs=("s",), axes=("i",), attrs={"op": "sum"})
    program = replace(asked.program, steps=(*asked.program.steps, rounding), results=("y", "s"))
    small = tuple(from_array(np.array([each], np.float32)) for each in (1, 2.0**-24, 2.0**-24))
    beside = {"w": Operand(blocks=small, layouts=("contiguous",) * 3)}
    assert outcome(replace(asked, program=program, inputs=asked.inputs | beside), {"mean": "reciprocal"}) == "passed"
