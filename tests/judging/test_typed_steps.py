"""A clause about steps of a typed program speaks of the values alone that show what such a step does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.cases.types.typed_case import Level, TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.transforms.meaning import TypedMeaning, typed_meaning
from conformance.specs.types.verdict import judge

Blocks = tuple[Tensor, ...]


def blocks(number: float, *shape: int) -> Blocks:
    return tuple(from_array(np.full(shape or (2,), number + rank, np.float32)) for rank in range(2))


def step(line: str, *axes: str, **attrs: Any) -> TypedStep:
    output, _, call = line.partition(" = ")
    op, *inputs = call.split()
    start = attrs.pop("start", False)
    return TypedStep(op=op, inputs=tuple(inputs), output=output, axes=axes, attrs=attrs, start=start)


def asked(results: str, *steps: TypedStep, **more: Any) -> TypedMeaning:
    """Return what a program on two ranks means, with the blocks ``x`` and ``z``, or what is asked for instead."""
    given = {name: TypedInput(dtype="float32", shape=(2,), varying=("i",)) for name in "xz"}
    program = TypedProgram(mesh=(Axis(name="i", size=2),), inputs=given, steps=steps, results=tuple(results.split()))
    inputs = more.pop("inputs", {name: blocks(at) for at, name in enumerate("xz")})
    return typed_meaning(TypedCase(program=program, inputs=inputs, **more))


def found(meaning: TypedMeaning, clause: str, wrong: str = "") -> str | None:
    """Return what a clause says of what is right, but for one block of ``wrong``."""
    right = meaning.back or meaning.pushed or meaning.values
    names = right if meaning.back else meaning.case.program.results
    results = {name: tuple(map(from_array, right[name])) for name in names}
    if wrong:
        results[wrong] = (results[wrong][0], from_array(right[wrong][1] + 1))
    return judge(meaning, Observation(results=results, types=meaning.types)).clauses.get(clause)


NEGATED = step("n = negate z")
GATHER = step("g = all_gather x", "i", axis=0, tiled=True, to="reduced")
EXCHANGE = step("g = all_to_all x", "i", split_axis=0, concat_axis=0, tiled=True)
PUSHED = {"tangents": {name: blocks(3) for name in "xz"}}
MAPPED = {"batch": (Level(name="l", size=3, inputs={"x": 0}),), "inputs": {"x": blocks(1, 3, 2), "z": blocks(2)}}
STARTED = (step("t = all_reduce x", "i", op="sum", start=True), step("g = done t", of="all_reduce"))


@pytest.mark.parametrize(
    ("clause", "steps", "more"),
    [
        ("transposes.C6", (GATHER,), {}),
        ("pushes.C3", (EXCHANGE,), PUSHED),
        ("batches.C5", (EXCHANGE,), MAPPED),
        ("starts.C1", STARTED, {}),
    ],
)
def test_a_clause_is_about_what_shows_a_step_and_about_nothing_else(
    clause: str, steps: tuple[TypedStep, ...], more: dict[str, Any]
) -> None:
    back = clause.startswith("transposes")
    alone, both = (
        asked(results, *steps, NEGATED, **more, **({"cotangents": given} if back else {}))
        for results, given in (("n", {"n": blocks(5)}), ("g n", {"n": blocks(5), "g": blocks(6, 4)}))
    )
    mine, other = "xz" if back else "gn"
    assert [found(alone, clause), found(both, clause)] == [None, "held"]
    assert [found(both, clause, mine), found(both, clause, other)] == ["broken", "held"]


def test_pushes_c3_says_nothing_of_a_collective_over_no_axis() -> None:
    assert found(asked("g", replace(EXCHANGE, axes=()), **PUSHED), "pushes.C3") is None


def test_transposes_c12_says_nothing_where_a_number_of_a_position_is_added() -> None:
    steps = (step("k = axis_index", "i"), step("g = all_gather k", "i", axis=0, tiled=False, to="varying"))
    numbers = tuple(from_array(np.full(2, 7, np.int32)) for _ in range(2))
    program = asked("n g", NEGATED, *steps, cotangents={"n": blocks(5), "g": numbers})
    assert found(program, "transposes.C12") is None
    assert found(with_cotangents(program, "n"), "transposes.C12") == "held"


def with_cotangents(meaning: TypedMeaning, *names: str) -> TypedMeaning:
    """Return what a program means where fewer of its results have a cotangent."""
    given = {name: meaning.case.cotangents[name] for name in names}
    return typed_meaning(replace(meaning.case, cotangents=given))


def test_transposes_c19_of_results_without_a_cotangent_and_of_inputs_that_none_comes_back_to() -> None:
    whole = asked("n m", NEGATED, step("m = negate x"), cotangents={name: blocks(5) for name in "nm"})
    assert found(with_cotangents(whole, "n"), "transposes.C19") == "held"
    assert found(with_cotangents(whole, "n"), "transposes.C19", "z") == "broken"
    index = asked("k", step("k = axis_index", "i"), cotangents={"k": (from_array(np.array(1, np.int32)),) * 2})
    assert found(index, "transposes.C19") is None
