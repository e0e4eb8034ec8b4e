"""What depends on a fold whose order shows may be any value within the bounds of the program, and nothing else may."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from conformance.cases.case import Case, Operand
from conformance.cases.declarations.number_model import number_model
from conformance.cases.declarations.terms import Terms
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.judging.verdict import Verdict
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

ROUNDING = [np.array([0.1, 1.0], np.float32), np.array([1234.567, 2.0], np.float32)]
EXACT = [np.array([1.0, 2.0], np.float32), np.array([3.0, 4.0], np.float32)]


def step(name: str, operand: str, output: str, **attrs: object) -> Step:
    return Step(op=name, inputs=(operand,), outputs=(output,), axes=("i",), attrs=attrs)


PROGRAM = Program(
    mesh=(Axis("i", 2),),
    steps=(
        step("all_reduce", "x", "scaled", op="premul_sum", factor=0.3),
        step("broadcast", "scaled", "open", root=0),
        step("all_reduce", "y", "summed", op="sum"),
        step("broadcast", "summed", "exact", root=0),
        step("all_gather", "z", "moved", axis=0, tiled=True),
    ),
    results=("open", "exact", "moved"),
)
CASE = Case(
    program=PROGRAM,
    inputs={
        name: Operand(blocks=tuple(map(from_array, blocks)), layouts=("contiguous",) * 2)
        for name, blocks in {"x": ROUNDING, "y": EXACT, "z": EXACT}.items()
    },
)


@pytest.mark.parametrize(
    ("name", "element", "by", "outcome"),
    [
        ("open", 0, 1e-7, "passed"),
        ("open", 0, 1.0, "failed"),
        ("exact", 0, 1e-5, "failed"),
        ("exact", 1, 1e-5, "failed"),
        ("moved", 3, 1e-5, "failed"),
    ],
)
def test_only_what_a_rounding_fold_made_may_differ_within_bounds(
    name: str, element: int, by: float, outcome: str
) -> None:
    subject = meaning(CASE)
    given: dict[str, list[NDArray[np.float32]]] = {
        key: [block.copy() for block in blocks if block is not None] for key, blocks in subject.expected.items()
    }
    for block in given[name]:
        block[element] *= 1 + by
    seen = Observation(results={key: tuple(map(from_array, blocks)) for key, blocks in given.items()})
    assert verdict(subject, Answer(seen)).outcome == outcome


def test_what_may_differ_has_its_dtype_and_shape() -> None:
    subject = meaning(CASE)
    given = {key: tuple(from_array(block) for block in blocks) for key, blocks in subject.expected.items()}
    wrong = Observation(results=given | {"open": tuple(from_array(np.zeros(3, np.float32)) for _ in range(2))})
    assert verdict(subject, Answer(wrong)).outcome == "failed"


@pytest.mark.parametrize(("words", "outcome"), [({"accumulate": {"float16": "float32"}}, "passed"), ({}, "failed")])
def test_a_scaled_term_is_what_a_wider_partial_result_has(words: dict[str, dict[str, str]], outcome: str) -> None:
    least = np.array([2.0**-24], np.float16)  # half of it is 0 in float16, and two halves are all of it in float32
    steps = (
        step("all_reduce", "x", "y", op="premul_sum", factor=0.5),
        Step(op="all_reduce", inputs=("y",), outputs=("z",), axes=("j",), attrs={"op": "sum"}),
    )
    case = Case(
        program=Program(mesh=(Axis("i", 2), Axis("j", 2)), steps=steps, results=("z",)),
        inputs={"x": Operand(blocks=(from_array(least),) * 4, layouts=("contiguous",) * 4)},
    )
    seen = Observation(results={"z": (from_array(2 * least),) * 4})
    assert verdict(meaning(case), Answer(seen), Terms(numbers=number_model(words))).outcome == outcome


def effect(op: str, *inputs: str, to: str = "") -> Step:
    return Step(op=op, inputs=inputs, outputs=(to,) if to else (), axes=())


SUM = step("all_reduce", "x", "y", op="sum")
OF_B = replace(SUM, inputs=("b",))
STARTED = {"start": True, "outputs": ("t",)}
DONE = effect("done", "t", to="y")
BUFFER = effect("buffer", "x", to="b")


@pytest.mark.parametrize(
    ("clause", "steps"),
    [
        ("async.C1", (BUFFER, replace(OF_B, **STARTED), DONE)),
        ("async.C2", (BUFFER, replace(OF_B, **STARTED), effect("assign", "b", "z"), DONE)),
        ("async.C1", (BUFFER, replace(OF_B, into=("b",), **STARTED), DONE)),
        ("aliasing.C1", (BUFFER, replace(SUM, into=("b",)))),
        ("aliasing.C2", (BUFFER, replace(OF_B, into=("b",)))),
        ("aliasing.C4", (BUFFER, OF_B, effect("assign", "b", "z"))),
        ("all_reduce.C1", (BUFFER, OF_B)),
        ("all_reduce.C1", (replace(SUM, outputs=("s",)), effect("copy", "s", to="y"))),
        ("all_reduce.C1", (step("permute", "x", "m", pairs=((0, 1), (1, 2), (2, 0))), replace(SUM, inputs=("m",)))),
    ],
)
@pytest.mark.parametrize(("value", "held"), [(1.5, "held"), (0.0, "held"), (2.0, "broken"), (12345.0, "broken")])
def test_a_sum_whose_order_shows_is_some_sum_wherever_its_terms_and_its_result_lie(
    clause: str, steps: tuple[Step, ...], value: float, held: str
) -> None:
    found = judged(steps, value)
    assert (found.clauses[clause], found.outcome) == (held, "passed" if held == "held" else "failed")


@pytest.mark.parametrize(("value", "held"), [(1.5, "held"), (2.0, "held"), (12345.0, "broken")])
def test_a_sum_whose_order_shows_and_that_is_moved_is_within_bounds(value: float, held: str) -> None:
    found = judged((replace(SUM, outputs=("s",)), step("broadcast", "s", "y", root=0)), value)
    assert (found.clauses["broadcast.C1"], found.outcome) == (held, "passed" if held == "held" else "failed")


def judged(steps: tuple[Step, ...], value: float) -> Verdict:
    """Return the verdict on a value as every rank's result of a program of 1e8, -1e8 and 1.5."""
    inputs = {
        name: Operand(
            blocks=tuple(from_array(np.array([each], np.float32)) for each in blocks), layouts=("contiguous",) * 3
        )
        for name, blocks in {"x": (1e8, -1e8, 1.5), "z": (7, 7, 7)}.items()
    }
    case = Case(program=Program(mesh=(Axis("i", 3),), steps=steps, results=("y",)), inputs=inputs)
    seen = Observation(results={"y": (from_array(np.array([value], np.float32)),) * 3})
    return verdict(meaning(case), Answer(seen))


@pytest.mark.parametrize(
    ("given", "held", "outcome"),
    [
        (np.array([1.0], np.float16), None, "passed"),
        (np.array([[1.0]], np.float16), "broken", "failed"),
        (np.array([1], np.int8), "broken", "failed"),
    ],
)
def test_of_a_result_that_may_be_any_number_dtype_and_shape_are_known(
    given: NDArray[np.float16], held: str | None, outcome: str
) -> None:
    blocks = tuple(from_array(np.array([each], np.float16)) for each in (0.1, 1000, 3.3, 7, 0.01, 5))
    steps = (SUM, Step(op="all_reduce", inputs=("y",), outputs=("z",), axes=("j",), attrs={"op": "sum"}))
    case = Case(
        program=Program(mesh=(Axis("i", 3), Axis("j", 2)), steps=steps, results=("z",)),
        inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 6)},
    )
    numbers = number_model({"overflow": {"float16": "saturated"}})
    seen = Observation(results={"z": (from_array(given),) * 6})
    found = verdict(meaning(case), Answer(seen), Terms(numbers=numbers))
    assert (found.clauses.get("all_reduce.C1"), found.outcome) == (held, outcome)


@pytest.mark.parametrize(("value", "blame"), [(1.5, None), (0.0, None), (2.0, "collective.C30")])
def test_collective_c30_leaves_the_order_free_of_what_is_folded_of_a_value_that_nobody_sees(
    value: float, blame: str | None
) -> None:
    idle = Step(op="shuffle", inputs=("x",), outputs=("m",), axes=(), attrs={"sources": (0,)})
    found = judged((idle, replace(SUM, inputs=("m",))), value)
    assert (found.blame and found.blame.id) == blame


@pytest.mark.parametrize("steps", [(effect("copy", "x", to="c"),), (BUFFER,)])
def test_an_infinity_decides_a_mean_beside_storage(steps: tuple[Step, ...]) -> None:
    mean = step("all_reduce", "x", "y", op="mean")
    operand = Operand(blocks=(from_array(np.array([-np.inf], np.float16)),) * 2, layouts=("contiguous",) * 2)
    case = Case(program=Program(mesh=(Axis("i", 2),), steps=(*steps, mean), results=("y",)), inputs={"x": operand})
    for value, outcome in ((-np.inf, "passed"), (1.0, "failed"), (np.nan, "failed")):
        seen = Observation(results={"y": (from_array(np.array([value], np.float16)),) * 2})
        assert verdict(meaning(case), Answer(seen)).outcome == outcome
