"""Steps that compute: what they take, what they give, and what is malformed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.case_error import CaseError
from conformance.cases.program.computing import Block, made_of
from conformance.cases.program.computing_words import computing_words
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.program.validate import validate
from conformance.cases.tensor.tensor import from_array


def step(does: str, inputs: str, output: str = "z", /, **attrs: Any) -> Step:
    return Step(op=does, inputs=tuple(inputs.split()), outputs=(output,), axes=(), attrs=attrs)


def met(name: str, output: str, *, start: bool = False) -> Step:
    return Step(op="all_reduce", inputs=(name,), outputs=(output,), axes=("i",), attrs={"op": "sum"}, start=start)


def case(*steps: Step, results: str) -> Case:
    blocks = tuple(from_array(np.arange(6, dtype=np.int32).reshape(2, 3) + rank) for rank in range(2))
    program = Program(mesh=(Axis("i", 2),), steps=steps, results=tuple(results.split()))
    return Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)})


@pytest.mark.parametrize(
    ("made", "given", "right"),
    [
        (step("alu", "x y", op="lt"), [Block("int8", (2,))] * 2, Block("bool", (2,))),
        (step("alu", "c x y", op="where"), [Block("bool", ()), *[Block("int8", ())] * 2], Block("int8", ())),
        (step("cast", "x", to="bfloat16"), [Block("int8", (2, 0))], Block("bfloat16", (2, 0))),
        (step("fold", "x", op="max", axes=(1,)), [Block("int8", (2, 3))], Block("int8", (2,))),
        (step("dot", "x y"), [Block("int8", (2, 3)), Block("int8", (3, 4, 5))], Block("int8", (2, 4, 5))),
        (step("dot", "x y", acc="float32"), [Block("float16", (3,))] * 2, Block("float16", ())),
    ],
)
def test_what_a_step_gives_follows_from_its_operands(made: Step, given: list[Block], right: Block) -> None:
    assert made_of("step 0", made, given) == right


@pytest.mark.parametrize(
    ("made", "given", "why"),
    [
        (step("alu", "x y", op="add"), [Block("int8", (2,)), Block("int8", (3,))], "the shapes"),
        (step("alu", "x y", op="add"), [Block("int8", (2,)), Block("int32", (2,))], "the dtypes int8, int32"),
        (step("alu", "x y", op="and"), [Block("float32", ())] * 2, "and of float32"),
        (step("fold", "x", op="add", axes=(2,)), [Block("int8", (2, 3))], "axis 2 is out of range"),
        (step("fold", "x", op="add", axes=(0,), acc="int4"), [Block("int8", (2,))], "'int4' is no dtype in which"),
        (step("fold", "x", op="add", axes=(0,)), [Block("int8", (0, 5000))], "makes 5000 elements of none"),
        (step("dot", "x y"), [Block("int8", (2, 3)), Block("int8", (2, 3))], "of one extent"),
        (step("dot", "x y", acc="float32"), [Block("float16", (3,)), Block("bfloat16", (3,))], "must be alike"),
        (step("dot", "x y"), [Block("int8", (1 << 12, 1)), Block("int8", (1, 1 << 12))], "16777216 products"),
    ],
)
def test_operands_that_do_not_fit_are_malformed(made: Step, given: list[Block], why: str) -> None:
    with pytest.raises(CaseError, match=why):
        made_of("step 0", made, given)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (step("alu", "x x", op="plus"), "'plus' is no operation; known are neg"),
        (step("alu", "x", op="add"), "has 1 inputs and 1 outputs, where 2 and 1 are right"),
        (step("cast", "x", to="int5"), "to is a dtype, and 'int5' is none"),
        (step("fold", "x", op="add"), "needs the attribute 'axes'"),
        (step("fold", "x", op="add", axes=(1, 1)), "names an axis twice"),
        (step("fold", "x", op="add", axes=(-1,)), "distinct numbers of at least 0"),
        (step("dot", "x x", axes=(0,)), "has no attribute 'axes'; it has acc"),
        (
            Step(op="alu", inputs=("x",), outputs=("z",), axes=("i",), attrs={"op": "neg"}),
            "computes on each rank alone",
        ),
    ],
)
def test_a_malformed_step_is_named(made: Step, why: str) -> None:
    with pytest.raises(CaseError, match=f"step 0 .{made.op}.*{why}"):
        validate(case(made, met("x", "y"), results="y"))


def test_a_ticket_has_nothing_to_compute_with() -> None:
    with pytest.raises(CaseError, match="reads 't', a ticket"):
        validate(case(met("x", "t", start=True), step("alu", "t", op="neg"), results="z"))


def test_claims_are_told_what_is_computed_and_in_which_order() -> None:
    squared = step("alu", "x x", "a", op="mul")
    done = Step(op="done", inputs=("t",), outputs=("y",), axes=())
    back = step("cast", "y", "b", to="float32")
    found = computing_words(case(squared, met("a", "t", start=True), step("fold", "x", op="add", axes=(0,)), done, back,
                                 results="b z"))  # fmt: skip
    assert found["computes"] == {"mul of integer", "fold add of integer", "cast of integer"}
    assert found["computed"] == {"int32", "float32"}
    assert found["flow"] == {"computed_before", "computed_meanwhile", "computed_after"}
