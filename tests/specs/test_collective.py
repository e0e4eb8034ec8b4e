"""The clauses that every collective shares, on single cases."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program import Attr, Axis, Program, Step
from conformance.cases.tensor import Tensor, from_array
from conformance.judging.verdict import Verdict
from conformance.runner.answers import Answer
from conformance.runner.meaning import meaning, verdict


def one_step(name: str, *blocks: np.ndarray, axes: tuple[str, ...] = ("i",), **attrs: Attr) -> Case:
    """Return a program of one step, with a block for every rank."""
    step = Step(op=name, inputs=("x",), outputs=("y",), axes=axes, attrs=attrs)
    operand = Operand(blocks=tuple(map(from_array, blocks)), layouts=("contiguous",) * len(blocks))
    return Case(program=Program(mesh=(Axis("i", len(blocks)),), steps=(step,), results=("y",)), inputs={"x": operand})


def judged(case: Case, *blocks: Tensor) -> Verdict:
    return verdict(meaning(case), Answer(Observation(results={"y": blocks})))


def broken(seen: Verdict) -> set[str]:
    return {clause for clause, held in seen.clauses.items() if held == "broken"}


@pytest.mark.parametrize(("byte", "clauses"), [(1, {"reduction.C11"}), (2, {"reduction.C11", "collective.C3"})])
def test_a_sum_of_bools_may_be_a_bool_and_never_the_byte_2(byte: int, clauses: set[str]) -> None:
    case = one_step("all_reduce", *[np.array([True])] * 2, op="sum")
    assert broken(judged(case, *[Tensor(dtype="bool", shape=(1,), bits=f"{byte:02x}")] * 2)) == clauses
