"""Where ranks go their own ways, what they fold is judged as everywhere: what no open element made is demanded."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.case import Case, Fault, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer


def step(name: str, operand: str, output: str, ranks: tuple[int, ...] | None = None, **attrs: object) -> Step:
    pairs = ((0, 1), (2, 3))
    return Step(op=name, inputs=(operand,), outputs=(output,), axes=("i",), groups=pairs, attrs=attrs, ranks=ranks)


TWICE = (
    step("all_reduce", "x", "y", (0, 1), op="sum"),
    step("all_reduce", "x", "y2", (2, 3), op="max"),
    step("all_reduce", "y", "z", (0, 1), op="product"),
    step("broadcast", "y2", "w", (2, 3), root=0),
)
LATE = (step("all_reduce", "x", "y", op="sum"), step("all_reduce", "y", "z", op="sum"))


@pytest.mark.parametrize(
    ("clause", "steps", "faults", "name"),
    [
        ("liveness.C3", TWICE, (), "z"),
        ("liveness.C2", LATE, (Fault(rank=1, before=0, delay=0.1),), "z"),
        ("liveness.C2", (*LATE, step("broadcast", "z", "q", root=1)), (Fault(rank=1, before=0, delay=0.1),), "q"),
    ],
)
@pytest.mark.parametrize(
    ("element", "by", "held"),
    [(0, 1 + 1.2e-7, "held"), (0, 1.01, "broken"), (0, 99.0, "broken"), (1, 1 + 1.2e-7, "broken")],
)
def test_what_was_folded_of_what_was_folded_is_within_its_bounds(
    clause: str, steps: tuple[Step, ...], faults: tuple[Fault, ...], name: str, element: int, by: float, held: str
) -> None:
    blocks = tuple(from_array(np.array([0.1 + 0.7 * rank, rank], np.float32)) for rank in range(4))
    program = Program(mesh=(Axis("i", 4),), steps=steps, results=(name,))
    case = Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 4)}, faults=faults)
    subject = meaning(case)
    given = [None if each is None else each.copy() for each in subject.expected[name]]
    for each in given[:2]:  # of other ranks every order gives one sum
        if each is not None:
            each[element] *= np.float32(by)
    seen = Observation(results={name: tuple(None if each is None else from_array(each) for each in given)})
    assert verdict(subject, Answer(seen)).clauses[clause] == held
