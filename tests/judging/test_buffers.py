"""What a refused program leaves in its buffers."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation, Touched
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.qualification.mutants.write_order import WhatFitsIsWrittenBeforeTheRestIsChecked as Hasty
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer


def buffer(name: str, source: str) -> Step:
    return Step(op="buffer", inputs=(source,), outputs=(name,), axes=())


def case(*steps: Step) -> Case:
    """Return a program with the buffers b, like the results of sums of x, and c, which is longer."""
    operands = {
        name: Operand(blocks=(from_array(np.arange(1, n + 1, dtype=np.int32)),) * 2, layouts=("strided",) * 2)
        for name, n in (("x", 2), ("long", 3))
    }
    made = (buffer("b", "x"), buffer("c", "long"), *steps)
    return Case(program=Program(mesh=(Axis("i", 2),), steps=made, results=("y", "z")), inputs=operands)


SUMS = Step(op="all_reduce", inputs=("x", "x"), outputs=("y", "z"), axes=("i",), attrs={"op": "sum"}, into=("b", "c"))
ASSIGN = Step(op="assign", inputs=("b", "x"), outputs=(), axes=())


def broken(backend: Reference, asked: Case) -> set[str]:
    found = verdict(meaning(asked), Answer(backend.execute(asked)))
    return {clause for clause, held in found.clauses.items() if held == "broken"}


def test_c20_a_refused_write_changes_no_buffer() -> None:
    assert broken(Reference(), case(SUMS)) == set()
    assert broken(Hasty(), case(SUMS)) == {"aliasing.C20"}
    (touch, _) = Hasty().execute(case(SUMS)).touched
    assert (touch.input, touch.inside) == ("b", True)


class OverwritesFirst(Reference):
    """Reports an element of a buffer as written, whatever became of the program."""

    def execute(self, case: Case) -> Observation:
        seen = super().execute(case)
        return replace(seen, touched=(Touched(input="b", rank=0, index=0, before="1", after="9", inside=True),))


@pytest.mark.parametrize("start", [False, True])
def test_c20_speaks_of_a_refusal_in_a_program_that_writes_nothing(start: bool) -> None:
    step = Step(op="all_reduce", inputs=("b",), outputs=("y",), axes=("i",), attrs={"op": "none"}, start=start)
    asked = case(step)
    asked = replace(asked, program=replace(asked.program, results=() if start else ("y",)))
    assert "aliasing.C20" not in broken(Reference(), asked)
    assert "aliasing.C20" in broken(OverwritesFirst(), asked)


@pytest.mark.parametrize("backend", [Reference(), Hasty()])
def test_c20_says_nothing_where_a_legal_write_came_first(backend: Reference) -> None:
    assert broken(backend, case(ASSIGN, SUMS)) == set()


@pytest.mark.parametrize(("more", "blamed"), [((), True), ((ASSIGN,), False)])
def test_collective_c2_a_buffer_that_no_step_writes_keeps_its_elements(more: tuple[Step, ...], blamed: bool) -> None:
    total = replace(SUMS, inputs=("x",), outputs=("y",), into=())
    whole = case(total, *more)
    asked = replace(whole, program=replace(whole.program, results=("y", "b")))
    right = Reference().execute(asked)
    wrong = replace(
        right, results=right.results | {"b": (from_array(np.array([1, 9], np.int32)), right.results["b"][1])}
    )
    found = [verdict(meaning(asked), Answer(each)).clauses["collective.C2"] for each in (right, wrong)]
    assert found == ["held", "broken" if blamed else "held"]
