"""What is said of ranks shrinks too, and stays about the same ranks when others go."""

from __future__ import annotations

import numpy as np

from conformance.cases.case import Case, Fault, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.runner.reductions.programs import reductions

STEP = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "sum"}, ranks=(0, 2))
OTHER = Step(op="all_reduce", inputs=("x",), outputs=("z",), axes=("i",), attrs={"op": "sum"}, ranks=(1,))
BLOCKS = tuple(from_array(np.array([rank], np.int32)) for rank in range(3))
CASE = Case(
    program=Program(mesh=(Axis("i", 3),), steps=(STEP, OTHER), results=("y", "z")),
    inputs={"x": Operand(blocks=BLOCKS, layouts=("contiguous",) * 3)},
    faults=(Fault(rank=2, before=1, delay=0.1), Fault(rank=1, before=1)),
)


def told(case: Case) -> tuple[object, ...]:
    return case.program.world, [step.ranks for step in case.program.steps], [(f.rank, f.before) for f in case.faults]


def test_faults_and_ranks_are_left_out_one_by_one() -> None:
    found = [told(case) for case in reductions(CASE)]
    assert (3, [(0, 2), (1,)], [(1, 1)]) in found
    assert (3, [(0, 2), (1,)], [(2, 1)]) in found
    assert (3, [None, (1,)], [(2, 1), (1, 1)]) in found
    assert (3, [(2,), (1,)], [(2, 1), (1, 1)]) in found


def test_a_rank_that_goes_takes_its_faults_along_and_later_ones_move_up() -> None:
    found = [told(case) for case in reductions(CASE)]
    assert (2, [(1,), (0,)], [(1, 1), (0, 1)]) in found
    assert (2, [(0,), (1,)], [(1, 1)]) in found


def test_a_step_that_goes_leaves_faults_before_one_that_is_there() -> None:
    found = [told(case) for case in reductions(CASE)]
    assert (3, [(1,)], [(2, 0), (1, 0)]) in found
    assert (3, [(0, 2)], [(2, 0), (1, 0)]) in found


def test_everything_else_shrinks_with_the_faults_in_place() -> None:
    smaller = [case for case in reductions(CASE) if case.inputs != CASE.inputs and case.program == CASE.program]
    assert smaller
    assert all(case.faults == CASE.faults for case in smaller)
