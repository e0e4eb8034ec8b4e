"""Clauses that say nothing where an observation has nothing that they are about."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.observation import Observation, RankError
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

YES = from_array(np.array([True]))
TWO = Tensor(dtype="bool", shape=(1,), bits="02")
THREE = from_array(np.array([3], np.int32))


def call(name: str, operand: str, output: str, *into: str, **attrs: object) -> Step:
    return Step(op=name, inputs=(operand,), outputs=(output,), axes=("i",), attrs=attrs, into=into)


def judged(steps: tuple[Step, ...], seen: Observation) -> Verdict:
    """Return the verdict on what two ranks did with bools ``x`` and the numbers ``z``, all of them named as results."""
    inputs = {
        name: Operand(blocks=tuple(map(from_array, blocks)), layouts=("contiguous",) * 2)
        for name, blocks in {"x": [np.array([True])] * 2, "z": [np.array([n], np.int32) for n in (1, 2)]}.items()
    }
    program = Program(mesh=(Axis("i", 2),), steps=steps, results=tuple(seen.results) or ("y",))
    return verdict(meaning(Case(program=program, inputs=inputs)), Answer(seen))


def error(category: str, message: str = "no such axis") -> RankError:
    return RankError(kind="ValueError", message=message, category=category)


@pytest.mark.parametrize(("got", "held"), [((YES, YES), "held"), ((YES, TWO), "held"), ((TWO, None), "broken")])
def test_collective_c3_is_about_ranks_that_have_a_result(got: tuple[Tensor | None, ...], held: str) -> None:
    found = judged((call("reduce", "x", "y", op="and", root=0),), Observation(results={"y": got}))
    assert (found.clauses["collective.C3"], found.outcome) == (held, "passed" if held == "held" else "failed")


@pytest.mark.parametrize(
    "seen", [Observation(errors=(error("internal"),) * 2), Observation(results={"y": (from_array(np.array([2])),) * 2})]
)
def test_collective_c3_says_nothing_where_no_bool_was_returned(seen: Observation) -> None:
    assert "collective.C3" not in judged((call("all_reduce", "x", "y", op="sum"),), seen).clauses


@pytest.mark.parametrize(("target", "held"), [("b", "broken"), ("c", None)])
def test_aliasing_c13_is_about_bools_that_were_written(target: str, held: str | None) -> None:
    buffers = tuple(Step(op="buffer", inputs=(source,), outputs=(name,), axes=()) for name, source in ("bx", "cz"))
    written = call("all_reduce", "x" if target == "b" else "z", "y", target, op="or")
    moved = call("all_gather", "x", "k", axis=0, tiled=False)
    bools = Tensor(dtype="bool", shape=(2, 1), bits="0102")
    seen = Observation(results={"y": ((TWO if target == "b" else THREE),) * 2, "k": (bools,) * 2})
    assert judged((*buffers, written, moved), seen).clauses.get("aliasing.C13") == held


@pytest.mark.parametrize(
    ("errors", "held"),
    [
        ((error("invalid_argument"), error("no_answer")), "held"),
        ((error("no_answer"), error("no_answer")), None),
        ((error("no_answer"), error("internal", "Broken pipe")), None),
        ((error("internal", "Broken pipe"),) * 2, "broken"),
    ],
)
def test_collective_c14_is_about_errors_that_were_raised(errors: tuple[RankError, ...], held: str | None) -> None:
    found = judged((call("all_gather", "z", "y", axis=5, tiled=True),), Observation(errors=errors))
    assert found.clauses.get("collective.C14") == held


@pytest.mark.parametrize(("seen", "held"), [(Observation(results={"y": (THREE,) * 2}), None), (None, "held")])
def test_collective_c13_says_nothing_of_a_program_that_was_accepted(seen: Observation | None, held: str | None) -> None:
    refused = Observation(errors=(error("invalid_argument"),) * 2)
    found = judged((call("all_gather", "z", "y", axis=5, tiled=True),), seen or refused)
    assert found.clauses.get("collective.C13") == held


@pytest.mark.parametrize(("rank", "held"), [(0, "held"), (1, None)])
def test_reduction_c20_is_about_elements_with_a_nan_among_their_terms(rank: int, held: str | None) -> None:
    blocks = [np.array([np.nan if each == rank else 1.0], np.float32) for each in range(2)]
    inputs = {"x": Operand(blocks=tuple(map(from_array, blocks)), layouts=("contiguous",) * 2)}
    step = call("scan", "x", "y", op="max", exclusive=True)
    case = Case(program=Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",)), inputs=inputs)
    assert verdict(meaning(case), Answer(Reference().execute(case))).clauses.get("reduction.C20") == held


@pytest.mark.parametrize("clause", ["reduction.C21", "reduction.C22", "numerics.C21"])
def test_clauses_about_values_say_nothing_where_none_was_returned(clause: str) -> None:
    op, dtype = {"reduction.C21": ("sum", "bool"), "reduction.C22": ("mean", "int32")}.get(clause, ("max", "float32"))
    blocks = tuple(from_array(np.array([number], dtype)) for number in (0.0, -0.0))
    program = Program(mesh=(Axis("i", 2),), steps=(call("all_reduce", "x", "y", op=op),), results=("y",))
    subject = meaning(Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)}))
    right = tuple(from_array(block) for block in subject.expected["y"] if block is not None)
    for results, held in ((right, "held"), ((right[0], None), None)):
        assert verdict(subject, Answer(Observation(results={"y": results}))).clauses.get(clause) == held


def test_numerics_c21_says_nothing_of_an_element_that_is_no_zero() -> None:
    blocks = tuple(from_array(np.array([number], np.float32)) for number in (0.0, -0.0))
    program = Program(mesh=(Axis("i", 2),), steps=(call("all_reduce", "x", "y", op="max"),), results=("y",))
    subject = meaning(Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)}))
    given = [Observation(results={"y": (from_array(np.array([n], np.float32)),) * 2}) for n in (0.0, -0.0, 7.0)]
    held = [verdict(subject, Answer(each)).clauses.get("numerics.C21") for each in given]
    assert held == ["held", "broken", None]


@pytest.mark.parametrize(("op", "held"), [("all_reduce", "held"), ("broadcast", None)])
def test_async_c9_says_nothing_of_results_that_only_a_recommendation_settles(op: str, held: str | None) -> None:
    attrs = {"op": "max"} if op == "all_reduce" else {"root": 0}
    start = Step(op=op, inputs=("z",), outputs=("t",), axes=(), attrs=attrs, start=True)
    wait, other = Step(op="done", inputs=("t",), outputs=("y",), axes=()), call("all_reduce", "z", "s", op="sum")
    z = tuple(from_array(np.array([n], np.int32)) for n in (1, 2))
    found = judged((start, wait, other), Observation(results={"y": z, "s": (THREE,) * 2}))
    assert found.outcome == "passed"
    assert found.clauses.get("async.C9") == held


@pytest.mark.parametrize(
    ("step", "clauses"),
    [
        (call("all_reduce", "z", "y", op="sum"), {"all_reduce.C1", "reduction.C1"}),
        (call("all_reduce", "z", "y", op="mean"), {"all_reduce.C1", "reduction.C22"}),
        (call("all_reduce", "x", "y", op="sum"), {"reduction.C21"}),
        (call("gather", "z", "y", axis=0, tiled=True, root=0), {"gather.C1", "gather.C3"}),
        (Step(op="axis_index", inputs=(), outputs=("y",), axes=("i",)), {"axis_index.C1"}),
    ],
)
def test_clauses_say_nothing_of_a_last_collective_whose_result_is_not_asked_for(step: Step, clauses: set[str]) -> None:
    moved = call("all_gather", "z", "k", axis=0, tiled=True)
    right = from_array(np.array([1, 2], np.int32))
    assert not clauses & judged((moved, step), Observation(results={"k": (right, right)})).clauses.keys()


@pytest.mark.parametrize(("shape", "held"), [((2, 0), "broken"), ((0, 0), None)])
def test_reduction_c23_is_about_elements_without_a_term(shape: tuple[int, int], held: str | None) -> None:
    inputs = {"x": Operand(blocks=(from_array(np.zeros(shape, np.float32)),) * 2, layouts=("contiguous",) * 2)}
    step = call("all_reduce", "x", "y", op="mean", local_axes=(1,))
    case = Case(program=Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",)), inputs=inputs)
    seen = Observation(results={"y": (from_array(np.zeros(shape[:1], np.float32)),) * 2})
    assert verdict(meaning(case), Answer(seen)).clauses.get("reduction.C23") == held


@pytest.mark.parametrize(("dtype", "held"), [(np.float32, "held"), (np.float64, None)])
def test_numerics_c21_says_nothing_of_a_result_of_another_dtype(dtype: type[np.floating], held: str | None) -> None:
    blocks = tuple(from_array(np.array([zero], np.float32)) for zero in (0.0, -0.0))
    inputs = {"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)}
    step = call("all_reduce", "x", "y", op="max")
    case = Case(program=Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",)), inputs=inputs)
    seen = Observation(results={"y": (from_array(np.zeros(1, dtype)),) * 2})
    assert verdict(meaning(case), Answer(seen)).clauses.get("numerics.C21") == held
