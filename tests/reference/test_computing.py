"""What steps that compute mean, and that the program's graph says the same of them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.case_error import CaseError
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.judging.numbers.computed import computed_values
from conformance.reference.computing import compute
from conformance.reference.spmd import evaluate


def step(does: str, inputs: str, output: str = "z", /, **attrs: Any) -> Step:
    return Step(op=does, inputs=tuple(inputs.split()), outputs=(output,), axes=(), attrs=attrs)


def test_a_fold_wraps_and_leaves_its_axes_out() -> None:
    block = np.array([[100, 1], [100, 2]], np.int8)
    assert compute("", step("fold", "x", op="add", axes=(0,)), [[block]])[0].tolist() == [-56, 3]


def test_a_dot_accumulates_in_acc_and_rounds_once() -> None:
    left = np.array([256.0, 1.0, 1.0], ml_dtypes.bfloat16)
    ones = np.ones(3, ml_dtypes.bfloat16)
    assert float(compute("", step("dot", "x y"), [[left], [ones]])[0]) == 256
    assert float(compute("", step("dot", "x y", acc="float32"), [[left], [ones]])[0]) == 258


def test_a_step_that_reads_storage_reads_what_is_there_now() -> None:
    steps = (
        Step(op="buffer", inputs=("x",), outputs=("b",), axes=()),
        Step(op="all_reduce", inputs=("b",), outputs=("t",), axes=("i",), attrs={"op": "sum"}, start=True),
        step("alu", "b b", "twice", op="add"),
        Step(op="assign", inputs=("b", "twice"), outputs=(), axes=()),
        step("alu", "b b", "four", op="add"),
        Step(op="done", inputs=("t",), outputs=("y",), axes=()),
        step("alu", "y four", "z", op="sub"),
    )
    blocks = tuple(from_array(np.array([1.0 + rank], np.float32)) for rank in range(2))
    program = Program(mesh=(Axis("i", 2),), steps=steps, results=("twice", "four", "y", "z", "b"))
    case = Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous", "strided"))})
    found = {name: [block.tolist() for block in made if block is not None] for name, made in evaluate(case).items()}
    assert found == {"twice": [[2], [4]], "four": [[4], [8]], "y": [[3], [3]], "z": [[-1], [-5]], "b": [[2], [4]]}
    values = computed_values(case).items()
    graph = {name: [each.array.tolist() for each in made if each is not None] for name, made in values}
    assert graph == found


def test_a_rank_without_a_block_has_nothing_to_compute_with() -> None:
    gather = Step(op="gather", inputs=("x",), outputs=("y",), axes=("i",), attrs={"root": 0, "axis": 0, "tiled": True})
    blocks = (from_array(np.ones(1, np.int32)),) * 2
    program = Program(mesh=(Axis("i", 2),), steps=(gather, step("alu", "y", op="neg")), results=("z",))
    with pytest.raises(CaseError, match="reads 'y', of which rank 1 has no part"):
        evaluate(Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)}))
