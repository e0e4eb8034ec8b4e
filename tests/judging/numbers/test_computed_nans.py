"""What is moved, kept and chosen keeps the bits of its NaN, beside what arithmetic made, of which any NaN is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

GIVEN, OTHER = 0x7FC00123, 0xFFC00000
"""A NaN that is among the inputs, and one that many processors make."""


def block(*bits: int) -> Tensor:
    return from_array(np.array(bits, np.uint32).view(np.float32))


def step(does: str, *inputs: str, to: str = "", into: str = "", axes: tuple[str, ...] = ("i",), **attrs: Any) -> Step:
    return Step(
        op=does, inputs=inputs, outputs=(to,) if to else (), axes=axes, into=(into,) if into else (), attrs=attrs
    )


BUFFER = step("buffer", "x", to="b", axes=())
REST = step("view", "b", to="v", axes=(), start=(1,), stop=(3,), step=(1,), order=(0,))
SUM_INTO_REST = step("all_reduce", "y", to="s", into="v", op="sum")
REDUCED = step("reduce", "x", to="r", into="b", op="sum", root=0)
GATHERED = step("all_gather", "b", to="g", axis=0, tiled=True)
COPY = step("copy", "b", to="k", axes=())
LESS = step("alu", "z", "y", to="c", axes=(), op="lt")
CHOSEN = step("alu", "c", "x", "y", to="w", axes=(), op="where")
ADDED = step("alu", "x", "y", to="a", axes=(), op="add")
ROOTED = step("broadcast", "x", to="q", root=0)


def judged(steps: tuple[Step, ...], result: str, at: tuple[int, int], bits: int) -> Verdict:
    """Return the verdict on the reference's answer with other bits in one element of a result on one rank."""
    first = block(GIVEN, 0x3F800000, 0x3F800000)
    inputs = {"x": first, "y": block(0x3F800000, GIVEN) if SUM_INTO_REST in steps else first, "z": block(0, 0, 0)}
    if LESS in steps:
        inputs["y"] = block(0x3F800000, 0x3F800000, 0x3F800000)
    used = {name for each in steps for name in each.inputs} & inputs.keys()
    operands = {name: Operand(blocks=(inputs[name],) * 2, layouts=("contiguous",) * 2) for name in used}
    case = Case(program=Program(mesh=(Axis("i", 2),), steps=steps, results=(result,)), inputs=operands)
    subject = meaning(case)
    given = [np.asarray(each).copy() for each in subject.expected[result] if each is not None]
    given[at[0]].view(np.uint32)[at[1]] = bits
    return verdict(subject, Answer(Observation(results={result: tuple(map(from_array, given))})))


@pytest.mark.parametrize(
    ("clause", "steps", "result", "at"),
    [
        ("aliasing.C7", (BUFFER, REST, SUM_INTO_REST), "b", (1, 0)),
        ("aliasing.C14", (BUFFER, REDUCED), "b", (1, 0)),
        ("aliasing.C14", (BUFFER, REDUCED), "r", (1, 0)),
        ("collective.C18", (BUFFER, REST, SUM_INTO_REST, GATHERED), "g", (0, 0)),
        ("aliasing.C7", (BUFFER, REST, SUM_INTO_REST, COPY, GATHERED), "k", (1, 0)),
        ("computing.C13", (LESS, CHOSEN, ROOTED), "w", (0, 0)),
    ],
)
@pytest.mark.parametrize(("bits", "held"), [(GIVEN, "held"), (OTHER, "broken"), (GIVEN ^ 1, "broken")])
def test_a_nan_beside_what_is_folded_keeps_its_bits(
    clause: str, steps: tuple[Step, ...], result: str, at: tuple[int, int], bits: int, held: str
) -> None:
    found = judged(steps, result, at, bits)
    assert (found.clauses[clause], found.outcome) == (held, "passed" if held == "held" else "failed")


@pytest.mark.parametrize(
    ("steps", "result", "at"),
    [
        ((BUFFER, REST, SUM_INTO_REST), "b", (1, 2)),
        ((BUFFER, REST, SUM_INTO_REST), "s", (0, 1)),
        ((BUFFER, REDUCED), "b", (0, 0)),
        ((BUFFER, REST, SUM_INTO_REST, GATHERED), "g", (0, 2)),
        ((BUFFER, REST, SUM_INTO_REST, COPY, GATHERED), "k", (1, 2)),
        ((ADDED, ROOTED), "a", (0, 0)),
    ],
)
@pytest.mark.parametrize("bits", [GIVEN, OTHER, GIVEN ^ 1, 0x7F800001])
def test_a_nan_that_arithmetic_made_is_any_nan_wherever_it_is_moved(
    steps: tuple[Step, ...], result: str, at: tuple[int, int], bits: int
) -> None:
    assert judged(steps, result, at, bits).outcome == "passed"
    assert judged(steps, result, at, 0x3F800000).outcome == "failed"
