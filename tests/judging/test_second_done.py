"""A second done returns the bits of the first, also where several orders of the terms are right."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

TERMS = (1.0, 2.0**24, -(2.0**24))


def twice() -> Case:
    """Start a sum that rounds, and wait for it twice."""
    start = Step(op="all_reduce", inputs=("x",), outputs=("t",), axes=("i",), attrs={"op": "sum"}, start=True)
    waits = (Step(op="done", inputs=("t",), outputs=(name,), axes=()) for name in ("y", "z"))
    blocks = tuple(from_array(np.array([term], np.float32)) for term in TERMS)
    program = Program(mesh=(Axis("i", 3),), steps=(start, *waits), results=("y", "z"))
    return Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 3)})


@pytest.mark.parametrize(("second", "held"), [(0.0, "held"), (1.0, "broken")])
def test_a_second_done_is_not_computed_in_another_order(second: float, held: str) -> None:
    blocks = {name: (from_array(np.array([it], np.float32)),) * 3 for name, it in (("y", 0.0), ("z", second))}
    found = verdict(meaning(twice()), Answer(Observation(results=blocks))).clauses
    assert found["async.C5"] == held
    assert {clause for clause, said in found.items() if said == "broken"} == ({"async.C5"} if second else set())


def test_async_c5_asks_nothing_of_ranks_without_a_result() -> None:
    start = Step(op="reduce", inputs=("x",), outputs=("t",), axes=("i",), attrs={"op": "sum", "root": 0}, start=True)
    program = replace(twice().program, steps=(start, *twice().program.steps[1:]))
    one, other = (from_array(np.array([it], np.float32)) for it in (0.0, 7.0))
    seen = Observation(results={"y": (one, None, None), "z": (one, other, None)})
    assert verdict(meaning(replace(twice(), program=program)), Answer(seen)).outcome == "passed"
