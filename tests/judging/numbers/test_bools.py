"""A sum of bools is the count of the true ones, in whatever dtype, or their disjunction, and one throughout."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.judging.verdict import Verdict, judge
from conformance.runner.meaning import bound, meaning

BLOCKS = [[True, True, False], [True, False, False]]


def build(op: str = "sum", blocks: Any = BLOCKS, **attrs: Any) -> Case:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": op, **attrs})
    operand = Operand(blocks=tuple(from_array(np.array(b)) for b in blocks), layouts=("contiguous",) * len(blocks))
    return Case(program=Program(mesh=(Axis("i", len(blocks)),), steps=(step,), results=("y",)), inputs={"x": operand})


def blamed(case: Case, *seen: Any) -> str | None:
    results = Observation(results={"y": tuple(map(from_array, seen))})
    blame = judge(meaning(case), results, bound()).blame
    return blame and blame.id


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "float16", "float32", "bool"])
def test_a_count_and_a_disjunction_are_right_in_any_dtype(dtype: str) -> None:
    for right in ([2, 1, 0], [1, 1, 0]):
        assert blamed(build(), *[np.array(right, dtype)] * 2) == "reduction.C11"


@pytest.mark.parametrize(
    "seen",
    [
        [np.array([2, 1, 1])] * 2,
        [np.array([77, 77, 77], np.int32)] * 2,
        [np.array([2, 1, 0]), np.array([1, 1, 0])],  # the count on one rank, and on the other the disjunction
        [np.array([2, 1, 0]), np.array([2, 1, 0], np.int32)],
        [np.array([True, True, True])] * 2,
        [np.array([2, 1, 0], np.complex64)] * 2,
        [np.array([[2, 1, 0]])] * 2,
        [np.array([np.nan, 1, 0], np.float32)] * 2,
    ],
)
def test_anything_else_is_not(seen: list[np.ndarray]) -> None:
    assert blamed(build(), *seen) == "reduction.C21"


def test_a_product_is_the_conjunction() -> None:
    assert blamed(build("product"), *[np.array([True, False, False])] * 2) == "reduction.C11"
    assert blamed(build("product"), *[np.array([True, True, False])] * 2) == "reduction.C21"


def test_counts_wrap_where_integers_do_and_are_not_asked_of_a_float_beyond_its_integers() -> None:
    case = build(blocks=[[True] * 10] * 2, local_axes=(0,))
    assert blamed(case, *[np.array(20 - 16, "int8").astype("int4")] * 2) == "reduction.C11"
    assert blamed(case, *[np.array(16, "float8_e4m3fn")] * 2) == "reduction.C11"


def test_whether_there_is_an_answer_is_not_asked() -> None:
    error = RankError(kind="TypeError", message="no bool", category="invalid_argument")
    seen: Verdict = judge(meaning(build()), Observation(errors=(error, error)), bound())
    assert (seen.outcome, seen.blame and seen.blame.id) == ("errored", "reduction.C11")


def test_a_sum_of_another_operand_beside_it_is_none_of_bools() -> None:
    case = build(blocks=[[True], [True]], local_axes=(0,))
    numbers = Operand(blocks=(from_array(np.zeros(0, np.complex64)),) * 2, layouts=("contiguous",) * 2)
    (step,) = case.program.steps
    both = Program(
        mesh=case.program.mesh,
        steps=(msgspec.structs.replace(step, inputs=("x", "v"), outputs=("y", "w")),),
        results=("y", "w"),
    )
    case = Case(program=both, inputs=case.inputs | {"v": numbers})
    subject = meaning(case)
    assert not isinstance(subject.expected, str)
    right = {name: tuple(map(from_array, blocks)) for name, blocks in subject.expected.items()}
    assert judge(subject, Observation(results=right), bound()).blame is None


def test_a_product_of_no_numbers_beside_one_of_bools_is_judged_alike_in_any_order_of_inputs() -> None:
    case = build("product", blocks=np.zeros((2, 0), bool), local_axes=(0,))
    numbers = Operand(blocks=(from_array(np.zeros(0, np.int32)),) * 2, layouts=("contiguous",) * 2)
    (step,) = case.program.steps
    step = msgspec.structs.replace(step, inputs=("x", "t"), outputs=("y", "s"))
    program = msgspec.structs.replace(case.program, steps=(step,), results=("y", "s"))
    seen = Observation(results={"y": (from_array(np.int32(1)),) * 2, "s": (from_array(np.int32(0)),) * 2})
    found = [
        judge(meaning(Case(program=program, inputs=inputs)), seen, bound()).clauses
        for inputs in ({**case.inputs, "t": numbers}, {"t": numbers, **case.inputs})
    ]
    assert found[0] == found[1]
    assert found[0]["reduction.C21"] == "held"
