"""Typed programs, transposes and mapping on the engine agree with what they mean, of drawn cases."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from conformance.backends.observing import typed as observed
from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.typed.forward import runs
from conformance.backends.opencl.typed.graph_builder import Blocks, Building
from conformance.backends.opencl.typed.states import TypeRefusedError, shown, typed
from conformance.cases.graph.case import asked_key
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.typed_case import TypedCase
from conformance.generate.choices import Choice, Draw
from conformance.generate.types.data import batched_cases, pushed_cases, transposed_cases, typed_cases
from conformance.generate.types.domain import RULES, ill_typed_programs, typed_programs
from conformance.reference.types.check import check
from conformance.reference.types.ill_typed import IllTyped
from conformance.runner.dialects.types import mean
from conformance.runner.draws import Numbers
from conformance.specs.types.verdict import judge


@pytest.mark.parametrize("domain", [typed_cases(), transposed_cases(), batched_cases(), pushed_cases()])
def test_the_engine_passes_drawn_cases(domain: Choice[TypedCase]) -> None:
    backend = OpenCL()
    for seed in range(12):
        case = Draw(Numbers(Random(seed)))(domain)
        meaning = mean(case)
        if meaning is not None and meaning.no_rule is None:
            verdict = judge(meaning, observed(backend, case))
            assert verdict.outcome == "passed", (case.program.steps, verdict.detail)


def test_the_rules_of_the_engine_are_those_of_the_reference() -> None:
    refused = 0
    for seed in range(800):
        draw = Draw(Numbers(Random(seed)))
        program = draw(ill_typed_programs(RULES[seed // 2 % len(RULES)]) if seed % 2 else typed_programs())
        try:
            types = check(program)
        except IllTyped:
            refused += 1
            with pytest.raises(TypeRefusedError):
                typed(program)
            continue
        found = shown(program, typed(program))
        assert found == {step.output: types[step.output] for step in program.steps}
    assert refused > 300


def _run(building: Building, found: dict[str, Blocks]) -> dict[str, list[Array]]:
    given = OpenCL().graphs.arrays(building.case(found))
    return {name: [given[asked_key(0, node)] for node in blocks.nodes] for name, blocks in found.items()}


@pytest.mark.parametrize("op", ["all_reduce", "reduce_scatter"])
def test_a_collective_takes_a_view_of_what_another_gave(op: str) -> None:
    building, both = Building(), ((0, 1),)
    given = building.put([np.array([[1, 2], [3, 4]], np.float32) * 10**rank for rank in range(2)])
    total = building.meet("all_reduce", given, both, (2, 2), {"op": "sum"})
    wide = building.moved("reshape", total, (1, 2, 2))
    attrs = {"op": "sum"} if op == "all_reduce" else {"op": "sum", "axis": 0, "tiled": False}
    shape = (1, 2, 2) if op == "all_reduce" else (2, 2)
    found = {"z": building.meet(op, wide, ((0,), (1,)), shape, attrs)}
    assert _run(building, found)["z"][1].ravel().tolist() == [11, 22, 33, 44]


def test_a_collective_takes_a_constant() -> None:
    building = Building()
    ones = building.constant(Blocks(("", ""), (2,), "int32"), [1, 1])
    found = {"z": building.meet("all_reduce", ones, ((0, 1),), (2,), {"op": "sum"})}
    assert _run(building, found)["z"][0].tolist() == [2, 2]


def test_a_collective_sums_what_has_no_elements_over_a_local_axis() -> None:
    building, alone = Building(), ((0,), (1,))
    empty = building.put([np.zeros((2, 0), np.float32)] * 2)
    part = building.meet("reduce_scatter", empty, ((0, 1),), (0,), {"op": "sum", "axis": 0, "tiled": False})
    found = {"z": building.meet("all_reduce", part, alone, (), {"op": "sum", "local_axes": (0,)})}
    assert _run(building, found)["z"][0] == 0


def test_a_block_without_rows_has_no_spans() -> None:
    assert runs([]) == []
