"""What is computed beside collectives: who is to blame, and which numbers are right."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation, RankError, Touched
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer


def step(does: str, inputs: str, output: str, /, **attrs: Any) -> Step:
    return Step(op=does, inputs=tuple(inputs.split()), outputs=(output,), axes=(), attrs=attrs)


def met(name: str, output: str) -> Step:
    return Step(op="all_reduce", inputs=(name,), outputs=(output,), axes=("i",), attrs={"op": "sum"})


def case(*steps: Step, results: str, block: Any) -> Case:
    operand = Operand(blocks=tuple(from_array(block) for _ in range(2)), layouts=("contiguous",) * 2)
    return Case(
        program=Program(mesh=(Axis("i", 2),), steps=steps, results=tuple(results.split())), inputs={"x": operand}
    )


def judged(asked: Case, **wrong: Any) -> Verdict:
    seen = Reference().execute(asked)
    changed = {name: (from_array(np.asarray(each)),) * 2 for name, each in wrong.items()}
    seen = replace(seen, results=seen.results | changed) if wrong else seen
    return verdict(meaning(asked), Answer(seen))


WHOLE = np.array([1, 2], np.int32)
SQUARED = case(step("alu", "x x", "a", op="mul"), met("a", "y"), step("alu", "y y", "z", op="add"), results="a y z",
               block=WHOLE)  # fmt: skip


def test_the_step_whose_result_is_wrong_first_is_to_blame() -> None:
    assert judged(SQUARED).outcome == "passed"
    found = judged(SQUARED, a=np.array([1, 5], np.int32), y=np.array([2, 10], np.int32), z=np.array([4, 20], np.int32))
    assert found.blame is not None
    assert found.blame.id == "computing.C10"
    assert "all_reduce.C1" not in {name for name, held in found.clauses.items() if held == "broken"}


def test_a_collective_that_reads_what_was_computed_rightly_answers_for_its_own_result() -> None:
    found = judged(SQUARED, y=np.array([2, 9], np.int32), z=np.array([4, 18], np.int32))
    broken = {name for name, held in found.clauses.items() if held == "broken"}
    assert "computing.C10" not in broken
    assert any(name.startswith("all_reduce.") for name in broken)


def test_a_sum_in_another_order_is_within_the_bound_and_one_without_a_term_is_not() -> None:
    block = np.array([1.0, 2.0**-8, 2.0**-8, 0.5], ml_dtypes.bfloat16)
    asked = case(step("fold", "x", "s", op="add", axes=(0,)), met("s", "y"), results="s y", block=block)
    right = to_array(Reference().execute(asked).results["s"][0])  # type: ignore[arg-type]  # every rank has one
    other = np.asarray(1.5078125, ml_dtypes.bfloat16)
    assert right != other
    assert judged(asked, s=other, y=np.asarray(3.015625, ml_dtypes.bfloat16)).outcome == "passed"
    found = judged(asked, s=np.asarray(1.0, ml_dtypes.bfloat16), y=np.asarray(2.0, ml_dtypes.bfloat16))
    assert found.outcome == "failed"
    assert {"computing.C9", "computing.C15"} <= {name for name, held in found.clauses.items() if held == "broken"}


def test_operands_are_kept() -> None:
    seen = Observation(results=Reference().execute(SQUARED).results)
    assert verdict(meaning(SQUARED), Answer(seen)).clauses["computing.C1"] == "held"


def test_computing_c14_of_a_wrong_cast_beside_another_wrong_value() -> None:
    steps = (step("alu", "x x", "a", op="mul"), step("cast", "x", "b", to="float32"), met("x", "y"))
    asked = case(*steps, results="a b y", block=WHOLE)
    found = judged(asked, a=np.array([1, 5], np.int32), b=np.array([7, 7], np.float32))
    assert {found.clauses["computing.C10"], found.clauses["computing.C14"]} == {"broken"}


def test_computing_c14_says_nothing_of_a_cast_of_a_value_that_is_wrong() -> None:
    steps = (step("alu", "x x", "a", op="mul"), step("cast", "a", "b", to="float32"), met("x", "y"))
    asked = case(*steps, results="a b y", block=WHOLE)
    found = judged(asked, a=np.array([1, 5], np.int32), b=np.array([1, 5], np.float32))
    assert (found.clauses["computing.C10"], found.clauses.get("computing.C14")) == ("broken", None)


@pytest.mark.parametrize(("wrong", "held"), [({}, "held"), ({"a": np.array([0, 5], np.float32)}, "broken")])
def test_computing_c11_of_zeros_whose_sign_is_free(wrong: dict[str, Any], held: str) -> None:
    asked = case(step("alu", "x x", "a", op="sub"), met("x", "y"), results="a y", block=np.array([1, 2], np.float32))
    assert judged(asked, **wrong).clauses["computing.C11"] == held


@pytest.mark.parametrize(("results", "said"), [("b y", "held"), ("y z", None), ("a y", None)])
def test_computing_c14_says_nothing_of_a_cast_that_is_no_result(results: str, said: str | None) -> None:
    steps = (step("cast", "x", "b", to="float32"), step("alu", "b b", "a", op="add"), met("x", "y"), met("y", "z"))
    assert judged(case(*steps, results=results, block=WHOLE)).clauses.get("computing.C14") == said


@pytest.mark.parametrize(("results", "said"), [("a y", None), ("a b y", "held")])
def test_computing_c14_says_nothing_of_a_cast_that_only_a_wrong_result_shows(results: str, said: str | None) -> None:
    steps = (step("cast", "x", "b", to="float32"), step("alu", "b b", "a", op="add"), met("x", "y"))
    found = judged(case(*steps, results=results, block=WHOLE), a=np.array([7, 7], np.float32))
    assert (found.clauses["computing.C11"], found.clauses.get("computing.C14")) == ("broken", said)


def test_computing_c2_of_a_computed_block_that_may_round() -> None:
    """The gathered powers are out of their bound, and a sum beside them is right."""
    gathered = Step(op="all_gather", inputs=("e",), outputs=("y",), axes=("i",), attrs={"axis": 0, "tiled": True})
    asked = case(
        step("alu", "x", "e", op="exp2"), gathered, met("x", "z"), results="y z", block=np.array([1.5, 2.5], np.float32)
    )  # fmt: skip
    found = judged(asked, y=np.zeros(4, np.float32))
    assert [found.clauses[clause] for clause in ("computing.C2", "all_gather.C1", "computing.C9")] == ["broken"] * 3
    assert judged(asked).clauses["computing.C2"] == "held"


@pytest.mark.parametrize(("dtype", "held"), [("float32", "held"), ("float64", None)])
def test_computing_c9_says_nothing_of_bounds_in_another_dtype(dtype: str, held: str | None) -> None:
    asked = case(step("alu", "x x", "a", op="mul"), met("a", "y"), results="y", block=np.array([0.1], np.float32))
    found = judged(asked, y=np.asarray(meaning(asked).expected["y"][0], dtype))
    assert found.clauses.get("computing.C9") == held


@pytest.mark.parametrize(
    ("steps", "block", "wrong", "clause"),
    [
        ([step("fold", "x", "z", op="add", axes=(0,))], [-np.inf + 1e-45j] * 2, complex(-np.inf, 1), "computing.C15"),
        ([step("alu", "x", "a", op="recip"), step("alu", "a", "z", op="sqrt")], [-3.0], [0.5], "computing.C11"),
        ([step("fold", "x", "z", op="add", axes=(0,))], [3e38, 3e38, np.inf], 1.0, "computing.C15"),
        (
            [step("fold", "x", "a", op="add", axes=(0,)), step("alu", "a", "z", op="trunc")],
            [3e3, 0.7],
            9,
            "computing.C11",
        ),
    ],
)
def test_what_is_decided_is_asked_for_though_something_on_the_way_is_rounded(
    steps: list[Step], block: list[complex], wrong: Any, clause: str
) -> None:
    dtype = np.complex64 if np.iscomplexobj(block) else np.float32
    asked = case(*steps, met("x", "y"), results="z", block=np.array(block, dtype))
    assert judged(asked).outcome == "passed"
    found = judged(asked, z=np.array(wrong, dtype))
    assert (found.outcome, found.blame and found.blame.id) == ("failed", clause)


def stored(*steps: Step, results: str) -> Case:
    return case(step("buffer", "x", "b"), *steps, results=results, block=np.array([1, 2, 3, 4], np.int32))


def half(output: str, start: int) -> Step:
    return step("view", "b", output, start=(start,), stop=(start + 2,), step=(1,))


def test_computing_c1_of_a_view_beside_one_that_is_written_and_of_a_buffer_where_the_program_raised() -> None:
    over = replace(met("y", "r"), into=("w",))
    asked = stored(half("v", 0), half("w", 2), step("alu", "v v", "y", op="mul"), over, results="v y r")
    found = judged(asked, v=np.array([1, 4], np.int32)).clauses
    assert (found["computing.C1"], found["collective.C2"]) == ("broken", "broken")
    asked = stored(step("alu", "b b", "y", op="mul"), met("y", "r"), results="r")
    errors = (RankError(kind="E", message="no", category="internal"),) * 2
    touched = (Touched(input="b", rank=1, index=0, before="1", after="9", inside=True),)
    seen = verdict(meaning(asked), Answer(Observation(errors=errors, touched=touched)))
    assert (seen.clauses["computing.C1"], seen.clauses["collective.C2"]) == ("broken", "broken")
    freed = stored(
        step("alu", "b b", "y", op="mul"),
        Step(op="free", inputs=("b",), outputs=(), axes=()),
        met("y", "r"),
        results="r",
    )
    assert (
        verdict(meaning(freed), Answer(Observation(errors=errors, touched=touched))).clauses["collective.C2"] == "held"
    )


def test_computing_c1_says_nothing_of_an_operand_that_may_have_been_wrong_when_it_was_read() -> None:
    assert "computing.C1" not in judged(SQUARED, y=np.array([9, 9], np.int32)).clauses
    over = replace(met("x", "r"), into=("b",))
    asked = stored(over, step("alu", "b b", "y", op="mul"), results="b y")
    assert "computing.C1" not in judged(asked, b=np.array([9, 9, 9, 9], np.int32)).clauses


def test_computing_c5_leads_where_what_was_under_way_is_wrong_and_not_for_a_result_beside_it() -> None:
    started = replace(met("x", "t"), start=True)
    square = step("alu", "x x", "a", op="mul")
    asked = case(met("x", "q"), started, square, step("done", "t", "r"), results="q r a", block=WHOLE)
    wrong = np.array([9, 9], np.int32)
    blamed = [found.blame and found.blame.id for found in (judged(asked, **{name: wrong}) for name in "qar")]
    assert blamed == ["reduction.C1", "computing.C10", "computing.C5"]


def test_computing_c5_says_nothing_where_a_should_settles_what_was_under_way() -> None:
    started = Step(op="all_reduce", inputs=("x",), outputs=("t",), axes=("i",), attrs={"op": "mean"}, start=True)
    steps = (started, step("alu", "x x", "a", op="mul"), step("done", "t", "r"))
    free = case(*steps, results="r a", block=WHOLE)
    assert "computing.C5" not in judged(free, r=np.array([1, 2], np.float32)).clauses
