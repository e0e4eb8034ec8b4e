from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.program.program import Axis, lines
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.axis_type import AxisType
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.generate.choices import Draw
from conformance.generate.types.domain import typed_programs
from conformance.generate.types.grammar import BACK
from conformance.reference.transforms.no_rule import NotLinear
from conformance.reference.transforms.pairing import cotangent_type, pairing, total
from conformance.reference.transforms.pullback import pullback
from conformance.reference.types.check import check
from conformance.reference.types.ill_typed import IllTyped
from conformance.reference.types.values import evaluate
from conformance.runner.draws import Numbers

NONLINEAR = ("maximum", "multiply", "axis_index")


def blocks_of(
    mesh: tuple[Axis, ...], given: AxisType, shape: tuple[int, ...], source: np.random.Generator
) -> list[Array]:
    found = [np.zeros(shape)] * int(np.prod([axis.size for axis in mesh]))
    same = tuple(axis.name for axis in mesh if given.state(axis.name) in ("invariant", "reduced"))
    for line in lines(mesh, same):
        block = source.integers(-5, 5, shape).astype(np.float64)
        for rank in line:
            found[rank] = block
    return found


def linear(program: TypedProgram) -> bool:
    return (
        program.checked
        and not program.started
        and not any(step.op in NONLINEAR or step.attrs.get("op") in ("max", "min") for step in program.steps)
    )


def test_the_pullback_of_linear_programs_is_their_adjoint() -> None:
    source, ops = np.random.default_rng(1), Counter[str]()
    for seed in range(600):
        program = Draw(Numbers(Random(seed)))(typed_programs(BACK))
        try:
            types = check(program)
        except IllTyped:
            continue
        if not linear(program) or not program.steps:
            continue
        inputs = {n: blocks_of(program.mesh, types[n], g.shape, source) for n, g in program.inputs.items()}
        values = evaluate(program, inputs)
        name = program.steps[-1].output
        given = blocks_of(program.mesh, cotangent_type(types[name]), values[name][0].shape, source)
        back = pullback(program, inputs, {name: given})
        forth = pairing(program.mesh, types[name], values[name], given)
        parts = (pairing(program.mesh, types[each], inputs[each], back[each]) for each in inputs)
        assert forth == total(parts), (program, forth)
        ops.update(step.op for step in program.steps)
    assert min(ops[each] for each in ("cast", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "permute")) > 9


@pytest.mark.parametrize(("automatic", "expected"), [("n", 4.0), ("v", 1.0)])
def test_an_automatic_cast_sums_the_cotangents(automatic: str, expected: float) -> None:
    mesh = (Axis(name="i", size=4),)
    varying = () if automatic == "n" else ("i",)
    program = TypedProgram(
        mesh=mesh,
        inputs={"x": TypedInput(dtype="float32", shape=(), varying=varying)},
        steps=(TypedStep(op="permute", inputs=("x",), output="y", axes=("i",), attrs={"pairs": ((0, 1), (1, 0))}),),
        results=("y",),
    )
    ones = [np.ones((), np.float32)] * 4
    swapped = replace(program.steps[0], attrs={"pairs": tuple((r, (r + 1) % 4) for r in range(4))})
    back = pullback(replace(program, steps=(swapped,)), {"x": ones}, {"y": ones})
    assert back["x"][0] == expected


def test_a_maximum_has_no_transpose() -> None:
    mesh = (Axis(name="i", size=2),)
    program = TypedProgram(
        mesh=mesh,
        inputs={"x": TypedInput(dtype="float32", shape=(), varying=("i",))},
        steps=(TypedStep(op="all_reduce", inputs=("x",), output="y", axes=("i",), attrs={"op": "max"}),),
        results=("y",),
    )
    ones = [np.ones((), np.float32)] * 2
    with pytest.raises(NotLinear, match="all_reduce max is not linear"):
        pullback(program, {"x": ones}, {"y": ones})


def test_nothing_is_conjugated() -> None:
    given = {"x": TypedInput(dtype="complex64", shape=(), varying=("i",)), "y": TypedInput(dtype="complex64", shape=())}
    step = TypedStep(op="multiply", inputs=("x", "y"), output="z")
    program = TypedProgram(mesh=(Axis(name="i", size=1),), inputs=given, steps=(step,), results=("z",))
    inputs = {"x": [np.complex64(1 + 2j)], "y": [np.complex64(3j)]}
    back = pullback(program, inputs, {"z": [np.complex64(1 + 1j)]})
    assert back == {"x": [-3 + 3j], "y": [-1 + 3j]}
    whole = pairing(program.mesh, AxisType(varying=("i",)), inputs["x"], back["x"])
    assert str(whole) == "-9 + -3i"


def test_over_no_axis_a_ragged_exchange_gives_all_to_its_last_operand() -> None:
    tables = dict.fromkeys(("input_offsets", "send_sizes", "output_offsets", "recv_sizes"), ((1,),))
    rows = {name: TypedInput(dtype="float32", shape=(2,), varying=("i",)) for name in ("x", "into")}
    step = TypedStep(op="ragged_all_to_all", inputs=("x", "into"), output="y", attrs=tables)
    program = TypedProgram(mesh=(Axis(name="i", size=2),), inputs=rows, steps=(step,), results=("y",))
    ones = [np.ones(2, np.float32)] * 2
    back = pullback(program, dict.fromkeys(rows, ones), {"y": ones})
    assert [block.tolist() for block in (*back["x"], *back["into"])] == [[0, 0], [0, 0], [1, 1], [1, 1]]
