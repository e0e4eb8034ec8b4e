"""The listed reductions of one case."""

from __future__ import annotations

import numpy as np

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.runner.reductions.programs import reductions


def test_an_operand_whose_ranks_have_different_rows_gets_shorter() -> None:
    blocks = tuple(from_array(np.arange(rows, dtype=np.int32)) for rows in (4, 1, 0))
    step = Step(op="permute", inputs=("x",), outputs=("y",), axes=("i",), attrs={"pairs": ((0, 1),)})
    program = Program(mesh=(Axis("i", 3),), steps=(step,), results=("y",))
    case = Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 3)})
    rows = {tuple(block.shape[0] for block in smaller.inputs["x"].blocks) for smaller in reductions(case)}
    assert {(2, 1, 0), (3, 1, 0)} <= rows


def test_split_sizes_lose_the_row_and_the_column_of_a_rank_that_is_left_out() -> None:
    sends = ((0, 1, 2), (3, 0, 0), (0, 0, 0))
    attrs = {"sends": sends, "receives": tuple(zip(*sends, strict=True))}
    step = Step(op="all_to_all_uneven", inputs=("x",), outputs=("y",), axes=("i",), attrs=attrs)
    blocks = tuple(from_array(np.arange(sum(row), dtype=np.int32)) for row in sends)
    case = Case(
        program=Program(mesh=(Axis("i", 3),), steps=(step,), results=("y",)),
        inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 3)},
    )
    tables = {smaller.program.steps[0].attrs["sends"] for smaller in reductions(case)}
    assert {((0, 1), (3, 0)), ((0, 2), (0, 0)), ((0, 0), (0, 0))} <= tables
