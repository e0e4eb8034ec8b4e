"""A divergence is shown by what breaks its clause, and leaves out what is made of it and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conformance.cases.case import Case, Operand
from conformance.cases.declarations.terms import terms
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer


def judged(steps: tuple[Step, ...], x: NDArray[Any], source: str, **given: list[Any]) -> Verdict:
    """Return the verdict on results, one each rank of 2 by 2, of who follows a source; the others are right."""
    blocks = tuple(from_array(each.reshape(1)) for each in x)
    program = Program(mesh=(Axis("i", 2), Axis("j", 2)), steps=steps, results=tuple(step.outputs[0] for step in steps))
    case = Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 4)})
    subject = meaning(case)
    right = {name: [each for each in blocks if each is not None] for name, blocks in subject.expected.items()}
    seen = {name: tuple(from_array(np.asarray(each)) for each in (right | given)[name]) for name in right}
    return verdict(subject, Answer(Observation(results=seen)), terms(follows=(source,)))


def permute(*pairs: tuple[int, int]) -> Step:
    return Step(op="permute", inputs=("x",), outputs=("y",), axes=("j", "i"), attrs={"pairs": pairs})


NEGATED = Step(op="alu", inputs=("x",), outputs=("z",), axes=(), attrs={"op": "neg"})
OF_Y = Step(op="alu", inputs=("y",), outputs=("z",), axes=(), attrs={"op": "neg"})
NUMBERS = np.array([1, 2, 3, 4], np.int32)
MINUS = [np.array([-each], np.int32) for each in NUMBERS]
WRONG = [*MINUS[:3], np.array([7], np.int32)]


def test_collective_c24_does_not_diverge_where_both_orders_give_the_same() -> None:
    alike = permute((0, 0), (3, 3))
    assert judged((alike, NEGATED), NUMBERS, "jax").clauses["collective.C24"] == "held"
    found = judged((alike, NEGATED), NUMBERS, "jax", z=WRONG)
    assert (found.outcome, found.blame and found.blame.id) == ("failed", "computing.C10")


@pytest.mark.parametrize(("step", "outcome"), [(NEGATED, "failed"), (OF_Y, "passed")])
def test_what_is_made_of_a_divergence_may_be_anything_and_nothing_else(step: Step, outcome: str) -> None:
    in_order_of_the_mesh = [np.array([each], np.int32) for each in (0, 1, 0, 0)]
    found = judged((permute((0, 1)), step), NUMBERS, "jax", y=in_order_of_the_mesh, z=WRONG)
    assert (found.clauses["collective.C24"], found.outcome) == ("diverges", outcome)


@pytest.mark.parametrize(("dtype", "outcome"), [(np.int8, "passed"), (np.int16, "failed")])
def test_reduction_c12_leaves_open_which_number_it_is_and_not_its_dtype(dtype: type, outcome: str) -> None:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i", "j"), attrs={"op": "sum"})
    saturated = [np.array([127], dtype)] * 4
    assert judged((step,), np.full(4, 100, np.int8), "mpi", y=saturated).outcome == outcome
