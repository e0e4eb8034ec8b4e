"""Of several clauses that break in one case, the one is blamed that the observation is about."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import Attr, Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer
from conformance.specs import clauses_of

INTEGERS = [np.array([1, 2], np.int32), np.array([3, 5], np.int32)]
BOOLS = [np.array([True, True]), np.array([True, False])]
WITH_NAN = [np.array([np.nan, -0.0], np.float32), np.array([2.0, 0.0], np.float32)]


def step(name: str, given: str, made: str, **attrs: Attr) -> Step:
    return Step(op=name, inputs=(given,), outputs=(made,), axes=("i",), attrs=attrs)


def case(steps: list[Step], results: str, **inputs: list[np.ndarray]) -> Case:
    operands = {
        name: Operand(blocks=tuple(map(from_array, blocks)), layouts=("contiguous",) * 2)
        for name, blocks in inputs.items()
    }
    return Case(program=Program(mesh=(Axis("i", 2),), steps=tuple(steps), results=tuple(results)), inputs=operands)


def judged(case: Case, seen: Observation) -> Verdict:
    return verdict(meaning(case), Answer(seen))


def both(**results: np.ndarray) -> Observation:
    return Observation(results={name: (from_array(block),) * 2 for name, block in results.items()})


def blamed(found: Verdict) -> tuple[str, str, set[str]]:
    broken = {clause for clause, held in found.clauses.items() if held == "broken"}
    return (found.outcome, found.blame.id if found.blame else "", broken)


MEAN, GATHER = step("all_reduce", "x", "y", op="mean"), step("all_gather", "y", "z", axis=0, tiled=True)


@pytest.mark.parametrize(
    ("first", "inputs", "given", "blame"),
    [
        (MEAN, INTEGERS, np.array([2, 3.5], np.float32), "reduction.C13"),
        (step("all_reduce", "x", "y", op="sum"), BOOLS, np.array([True, True]), "reduction.C11"),
        (step("all_reduce", "x", "y", op="max"), WITH_NAN, np.array([2, 0], np.float32), "reduction.C20"),
    ],
)
def test_what_is_made_of_a_value_that_a_should_settles_is_blamed_on_that_should(
    first: Step, inputs: list[np.ndarray], given: np.ndarray, blame: str
) -> None:
    program = case([first, step("broadcast", "y", "z", root=0)], "z", x=inputs)
    assert blamed(judged(program, both(z=given))) == ("failed", blame, {blame})


def test_a_wrong_value_of_what_no_should_settles_breaks_a_must_beside_one() -> None:
    program = case([MEAN, GATHER, step("broadcast", "w", "v", root=0)], "zv", x=INTEGERS, w=INTEGERS)
    seen = both(z=np.array([2, 3.5] * 2, np.float32), v=np.array([3, 5], np.int32))
    assert blamed(judged(program, seen))[1] == "broadcast.C1"


def test_who_refuses_is_blamed_by_no_should_about_some_elements() -> None:
    steps = [MEAN, step("all_reduce", "w", "v", op="max")]
    refusal = RankError(kind="NoKernel", message="mean of int32", category="internal")
    for order in (steps, steps[::-1]):
        found = judged(case(order, "yv", x=INTEGERS, w=WITH_NAN), Observation(errors=(refusal,) * 2))
        assert blamed(found) == ("errored", "reduction.C13", {"reduction.C13"})


def test_numerics_c21_is_broken_by_zeros_alone() -> None:
    program = case([step("all_reduce", "x", "y", op="max")], "y", x=WITH_NAN)
    assert blamed(judged(program, both(y=np.array([2, 0], np.float32))))[1:] == ("reduction.C20", {"reduction.C20"})
    zero = both(y=np.array([np.nan, -0.0], np.float32))
    assert blamed(judged(program, zero))[1:] == ("numerics.C21", {"numerics.C21"})


def test_async_c13_is_about_programs_that_start_nothing_else() -> None:
    nothing = Step(op="all_reduce", inputs=(), outputs=(), axes=("i",), attrs={"op": "sum"}, start=True)
    (clause,) = [each for each in clauses_of("all_reduce") if each.id == "async.C13"]
    alone = case([nothing], "")
    assert clause.when(meaning(alone))
    assert not clause.when(meaning(case([nothing, MEAN], "y", x=INTEGERS)))
    error = RankError(kind="IndexError", message="list index out of range", category="internal")
    assert blamed(judged(alone, Observation(errors=(error,) * 2)))[:2] == ("errored", "async.C13")
