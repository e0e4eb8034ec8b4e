"""A clause about how a program does a thing is silent where no result is made of what would show it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer


def step(line: str, into: str = "", *, start: bool = False, **attrs: Any) -> Step:
    outputs, _, call = line.rpartition("=")
    op, *inputs = call.split()
    axes = () if op in ("buffer", "view", "assign", "copy", "free", "done", "alu") else ("i",)
    given = {"op": "sum"} if op in ("all_reduce", "reduce") else {}
    return Step(
        op=op,
        inputs=tuple(inputs),
        outputs=tuple(outputs.split()),
        axes=axes,
        attrs=given | attrs,
        into=tuple(into.split()),
        start=start,
    )


BUFFER, OTHER = step("b = buffer x"), step("c = buffer x")
HALF = Step(
    op="view", inputs=("b",), outputs=("v",), axes=(), attrs={"start": (0,), "stop": (1,), "step": (1,), "order": (0,)}
)
STARTED, DONE = step("t = all_reduce b", start=True), step("s = done t")
INTO = step("t = all_reduce x", "c", start=True)
SUM, COPY, OVER = step("s = all_reduce b"), step("k = copy b"), step("assign b z")
REST = step("q = all_reduce z")


@pytest.mark.parametrize(
    ("clause", "steps", "shown", "hidden"),
    [
        ("async.C2", (BUFFER, STARTED, OVER, DONE, REST), "s", "b q"),
        ("async.C3", (BUFFER, STARTED, step("free b"), DONE, REST), "s", "q"),
        ("async.C5", (STARTED, DONE, step("r = done t"), REST), "r", "s q"),
        ("async.C4", (OTHER, INTO, step("k = copy c"), step("y = done t"), REST), "k", "q"),
        ("async.C7", (STARTED, step("u = all_reduce z", start=True), step("w = done u"), DONE, REST), "w", "q"),
        ("async.C8", (STARTED, step("u = all_reduce z", start=True), DONE, step("w = done u"), REST), "s", "q"),
        ("async.C15", (OTHER, INTO, step("assign c z"), step("y = done t"), REST), "y", "q"),
        ("async.C18", (STARTED, step("u = broadcast z", start=True, root=0), DONE, step("w = done u")), "w", "x"),
        ("aliasing.C1", (OTHER, step("y = all_reduce x", "c"), REST), "c", "q"),
        ("aliasing.C2", (OTHER, step("y = all_reduce c", "c"), REST), "y", "q"),
        ("aliasing.C3", (OTHER, step("y = all_reduce x", "c"), step("assign c z"), REST, step("k = copy y")), "k", "q"),
        ("aliasing.C4", (BUFFER, SUM, OVER, REST), "s", "b q"),
        ("aliasing.C4", (BUFFER, SUM, OVER, step("p = all_reduce s"), REST), "p", "b q"),
        ("aliasing.C4", (BUFFER, SUM, step("p = all_reduce s"), OVER, step("n = all_reduce s"), REST), "n", "p q"),
        ("aliasing.C7", (BUFFER, HALF, step("assign v h"), REST), "b", "q"),
        ("aliasing.C7", (BUFFER, HALF, step("assign v h"), OVER, REST), "", "b q"),
        ("aliasing.C9", (BUFFER, COPY, OVER, REST), "k", "b q"),
        ("aliasing.C11", (BUFFER, SUM, step("free b"), REST), "s", "q"),
        ("aliasing.C14", (BUFFER, step("y = reduce x", "b", root=0), REST), "y", "q"),
        ("computing.C2", (step("a = alu x x", op="add"), step("s = all_reduce a"), REST), "s", "a q"),
        ("computing.C3", (REST, step("a = alu q q", op="add")), "a", "q"),
        ("computing.C5", (STARTED, step("a = alu x x", op="add"), DONE, REST), "s", "a q"),
        ("computing.C8", (BUFFER, step("a = alu b b", op="add"), OVER, REST), "a", "b q"),
        ("computing.C8", (BUFFER, step("a = alu b b", op="add"), step("free b"), REST), "a", "q"),
        ("computing.C10", (step("a = alu x x", op="add"), step("s = all_reduce a")), "a", "s"),
    ],
)
def test_a_clause_speaks_where_a_result_shows_what_it_is_about(
    clause: str, steps: tuple[Step, ...], shown: str, hidden: str
) -> None:
    steps = steps if BUFFER in steps else (BUFFER, *steps)
    for results, held in ((hidden, None), (f"{hidden} {shown}", "held")) if shown else ((hidden, None),):
        block = np.array([1, 2, 3], np.int32)
        given = {"x": block, "z": block + 4, "h": block[:1] + 8}
        inputs = {
            name: Operand(blocks=(from_array(each),) * 2, layouts=("contiguous",) * 2) for name, each in given.items()
        }
        case = Case(program=Program(mesh=(Axis("i", 2),), steps=steps, results=tuple(results.split())), inputs=inputs)
        found = verdict(meaning(case), Answer(Reference().execute(case)))
        assert (found.clauses.get(clause), found.outcome) == (held, "passed")


def test_what_was_computed_and_written_is_judged_beside_a_result_that_is_waited_for_there() -> None:
    added, started = step("a = alu x x", op="add"), step("t = all_reduce b", "b", start=True)
    steps = (BUFFER, started, step("assign b a"), step("y = done t"))
    block = from_array(np.array([1, 2, 3], np.int32))
    inputs = {"x": Operand(blocks=(block, block), layouts=("contiguous",) * 2)}
    case = Case(program=Program(mesh=(Axis("i", 2),), steps=(added, *steps), results=("b",)), inputs=inputs)
    assert verdict(meaning(case), Answer(Reference().execute(case))).clauses["computing.C10"] == "held"


GATHERED = step("y = all_gather b", axis=-1, tiled=True)


@pytest.mark.parametrize(
    ("steps", "results", "held"),
    [
        ((BUFFER, GATHERED), "y b", {"all_gather.C1", "all_gather.C3", "all_gather.C4"}),
        ((BUFFER, GATHERED), "b", {"all_gather.C1"}),
        ((BUFFER, SUM, GATHERED), "s", set()),
        ((BUFFER, GATHERED, step("k = copy b")), "k", {"all_gather.C1"}),
    ],
)
def test_a_clause_of_an_operation_says_nothing_where_nothing_that_it_made_is_returned(
    steps: tuple[Step, ...], results: str, held: set[str]
) -> None:
    blocks = tuple(from_array(np.array([1, 2, 3 + rank], np.int32)) for rank in range(2))
    inputs = {"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)}
    case = Case(program=Program(mesh=(Axis("i", 2),), steps=steps, results=tuple(results.split())), inputs=inputs)
    found = verdict(meaning(case), Answer(Reference().execute(case)))
    assert {clause for clause in found.clauses if clause.startswith("all_gather")} == held
    assert found.outcome == "passed"
