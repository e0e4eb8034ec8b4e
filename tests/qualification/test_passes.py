"""Each mistake in what the native engine does to communication breaks its clause on a program that gives occasion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.judging.schedules.program_graph import program_graph, with_graph
from conformance.qualification.schedule_mutants import passes
from conformance.qualification.schedule_mutants.engine import Engine
from conformance.specs.schedules import judge

STEPS: dict[str, Any] = {
    "add": ("alu", (), {"op": "add"}),
    "mul": ("alu", (), {"op": "mul"}),
    "sum": ("all_reduce", ("i",), {"op": "sum"}),
}


def case(extent: int, results: str, *lines: str) -> Case:
    """Return a program: each line a step, its inputs and, behind an arrow, its outputs."""
    steps = []
    for line in lines:
        (name, *given), outputs = (part.split() for part in line.split("->"))
        op, axes, attrs = STEPS[name]
        steps.append(Step(op=op, inputs=tuple(given), outputs=tuple(outputs), axes=axes, attrs=attrs))
    blocks = tuple(from_array(np.arange(extent, dtype=np.int32) + rank) for rank in range(2))
    program = Program(mesh=(Axis("i", 2),), steps=tuple(steps), results=tuple(results.split()))
    return Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous", "contiguous"))})


TWO = ("add x x -> a", "sum a -> p", "mul x a -> b", "sum b -> q", "add p q -> r")

OCCASIONS: dict[Any, Case] = {
    passes.PoolServesWhatIsStillRead: case(64, "r", *TWO),
    passes.SumOverWhatIsReadLater: case(64, "s", *TWO, "add r a -> s"),
    passes.CallOfWhatNeedsItself: case(64, "z", "add x x -> a", "sum a -> p", "add p x -> b", "sum b -> z"),
    passes.SeveralInOneShot: case(4, "r", "add x x -> a", "sum a x -> p q", "add p q -> r"),
    passes.OneShotBelowTheThreshold: case(32, "p", "add x x -> a", "sum a -> p"),
    passes.RaisedPastItsOperand: case(64, "p", "add x x -> a", "sum a -> p"),
}


def broken(engine: Engine, asked: Case) -> set[str]:
    made = with_graph(engine.schedule(asked), program_graph(asked))
    return {found.clause for found in judge(made) if found.finding == "broken"}


@pytest.mark.parametrize("mutant", OCCASIONS, ids=lambda each: each.__name__)
def test_a_mistake_in_a_pass_breaks_its_clause(mutant: Any) -> None:
    asked = OCCASIONS[mutant]
    assert mutant.breaks in broken(mutant(), asked)
    assert broken(mutant.__base__(), asked) == set()
