"""The transpose of a linear program is a program, and its transpose is the first one."""

from __future__ import annotations

import numpy as np

from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis
from conformance.cases.tensor.tensor import from_array
from conformance.cases.types.typed_case import TypedCase, arrays
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.generate.types.data import transposed_cases
from conformance.reference.transforms.meaning import typed_meaning
from conformance.reference.transforms.pairing import cotangent_type
from conformance.reference.transforms.pullback import pullback
from conformance.reference.transforms.transposed_program import PREFIX, transposed_program
from conformance.reference.types.check import check
from conformance.reference.types.values import evaluate, visible
from conformance.runner.dialects.types import mean
from conformance.runner.draws import numbered
from conformance.specs.types.verdict import judge


def drawn() -> list[TypedCase]:
    cases = (numbered(transposed_cases(), 3, number)[0] for number in range(250))
    return [case for case in cases if case.cotangents and mean(case) is not None]


def test_a_transposed_program_gives_what_the_transposes_of_the_steps_give_and_back() -> None:
    compared = 0
    for case in drawn():
        program, inputs, given = case.program, arrays(case.inputs), arrays(case.cotangents)
        values = evaluate(program, inputs)
        turned = transposed_program(program, {name: blocks[0].shape for name, blocks in values.items()})
        if turned is None:
            continue
        cotangents = {PREFIX + name: blocks for name, blocks in given.items()}
        back, wanted = evaluate(turned.program, cotangents), pullback(program, inputs, given)
        types, found = check(program), check(turned.program)
        for name, made in turned.results.items():
            assert found[made] == cotangent_type(types[name])
            assert all(np.array_equal(a, b) for a, b in zip(back[made], wanted[name], strict=True))
        if len(turned.program.results) == len(program.inputs):
            again = pullback(turned.program, cotangents, {made: inputs[name] for name, made in turned.results.items()})
            for name in program.results:
                shown = visible(program, types[name], values[name])
                assert all(np.array_equal(a, b) for a, b in zip(again[PREFIX + name], shown, strict=True))
        compared += 1
    assert compared > 60


def test_a_program_on_inputs_of_several_dtypes_has_cotangents_and_no_transpose_that_is_a_program() -> None:
    inputs = {"a": np.float32(2), "x": np.complex64(1j)}
    given = {name: TypedInput(dtype=str(each.dtype), shape=(), varying=("i",)) for name, each in inputs.items()}
    steps = tuple(TypedStep(op="add", inputs=(name, name), output=f"{name}2") for name in inputs)
    program = TypedProgram(mesh=(Axis(name="i", size=1),), inputs=given, steps=steps, results=("a2", "x2"))
    blocks = {name: (from_array(each),) for name, each in inputs.items()}
    case = TypedCase(program=program, inputs=blocks, cotangents={f"{name}2": each for name, each in blocks.items()})
    meaning = typed_meaning(case)
    assert meaning.turned is None
    seen = Observation(results={name: (from_array(2 * each),) for name, each in inputs.items()})
    assert judge(meaning, seen).outcome == "passed"
