"""What typed programs only move keeps its bits, and clauses about what was not shown say nothing."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis
from conformance.cases.tensor.tensor import from_array
from conformance.cases.types.typed_case import TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.reference.transforms.meaning import TypedMeaning, typed_meaning
from conformance.specs.types.verdict import judge

MOVE = TypedStep(op="permute", inputs=("x",), output="y", axes=("j",), attrs={"pairs": ((0, 1),)})
FOLD = TypedStep(op="all_reduce", inputs=("x",), output="y", axes=("j",), attrs={"op": "sum"})


def meant(step: TypedStep, *, lowered: bool = False) -> TypedMeaning:
    program = TypedProgram(
        mesh=(Axis(name="i", size=1), Axis(name="j", size=2)),
        inputs={"x": TypedInput(dtype="float32", shape=(2,), varying=("j",))},
        steps=(step,),
        results=("y",),
    )
    zeros = (from_array(np.zeros(2, np.float32)),) * 2
    return typed_meaning(TypedCase(program=program, inputs={"x": zeros}, lowered=lowered))


@pytest.mark.parametrize(("step", "said"), [(MOVE, "broken"), (FOLD, "held")])
def test_types_c14_a_computed_zero_alone_has_any_sign(step: TypedStep, said: str) -> None:
    meaning = meant(step)
    negative = (from_array(np.array([-0.0, 0.0], np.float32)),) * 2
    seen = Observation(results={"y": negative}, types=dict(meaning.types))
    assert judge(meaning, seen).clauses["types.C14"] == said


def test_types_c13_and_c18_say_nothing_of_blocks_and_types_that_are_missing() -> None:
    clauses = judge(meant(FOLD), Observation(results={"y": (None, None)})).clauses
    assert not {"types.C13", "types.C18"} & clauses.keys()
    assert clauses["types.C14"] == clauses["types.C12"] == "broken"


def test_lowering_says_nothing_of_collectives_that_are_not_there() -> None:
    assert judge(meant(FOLD, lowered=True), Observation()).clauses == {"lowering.C1": "broken"}


def waited_twice() -> TypedMeaning:
    start = TypedStep(op="all_reduce", inputs=("x",), output="t", axes=("j",), attrs={"op": "sum"}, start=True)
    waits = (TypedStep(op="done", inputs=("t",), output=name, attrs={"of": "all_reduce"}) for name in ("y", "z"))
    program = TypedProgram(
        mesh=(Axis(name="j", size=2),),
        inputs={"x": TypedInput(dtype="float32", shape=(1,), varying=("j",))},
        steps=(start, *waits),
        results=("y", "z"),
    )
    return typed_meaning(TypedCase(program=program, inputs={"x": (from_array(np.zeros(1, np.float32)),) * 2}))


@pytest.mark.parametrize(("second", "said"), [(0.0, "held"), (-0.0, "broken")])
def test_starts_c7_a_second_done_has_the_bits_of_the_first(second: float, said: str) -> None:
    meaning = waited_twice()
    blocks = {name: (from_array(np.array([it], np.float32)),) * 2 for name, it in (("y", 0.0), ("z", second))}
    assert judge(meaning, Observation(results=blocks, types=dict(meaning.types))).clauses["starts.C7"] == said
