"""In place, into outputs and asynchronous, real Gloo ranks mean what the reference says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from conformance.backends.base import supported
from conformance.backends.torch import Torch
from conformance.cases.case import Case
from conformance.cases.features import features
from conformance.cases.program import Step
from conformance.cases.tensor import from_array
from conformance.reference.spmd import evaluate

Make = Callable[..., Case]

HALF: dict[str, Any] = {"attrs": {"start": (4,), "stop": (8,), "step": (1,)}}
SUM: dict[str, Any] = {"axes": ("i",), "attrs": {"op": "sum"}}
GATHER: dict[str, Any] = {"axes": ("i",), "attrs": {"axis": 0, "tiled": True}}
SCATTER: dict[str, Any] = {"axes": ("i",), "attrs": {"op": "sum", "axis": 0, "tiled": True}}
ALONE: dict[str, Any] = {"axes": (), "attrs": {"op": "sum"}}


def step(line: str, **more: Any) -> Step:
    outputs, call = line.split("=")
    op, *inputs = call.split()
    return Step(op=op, inputs=tuple(inputs), outputs=tuple(outputs.split()), **{"axes": (), **more})


PROGRAMS = {
    "in place, three times": [
        step("b = buffer x"), *(step(f"y{n} = all_reduce b", **SUM, into=("b",)) for n in range(3)), step("y = copy b"),
    ],
    "into a part": [
        step("b = buffer x"), step("v = view b", **HALF), step("h = view b", attrs={**HALF["attrs"], "stop": (6,)}),
        step("y = all_gather h", **GATHER), step("w = reduce_scatter x", **SCATTER, into=("v",)),
    ],
    "started, waited for backwards and twice": [
        step("t = all_reduce x", **SUM, start=True), step("u = all_gather x", **GATHER, start=True),
        step("z = done u"), step("y = done t"), step("w = done t"),
    ],
    "over no axis": [
        step("b = buffer x"), step("y = all_reduce b", **ALONE), step("c = buffer x"),
        step("t = all_reduce c", **ALONE, into=("c",), start=True), step("z = done t"),
        step("w = all_reduce b", **SUM, into=("b",)), step("= free c"),
    ],
    "returned storage": [
        step("b = buffer x"), step("t = all_reduce b", **SUM, into=("b",), start=True), step("y = done t"),
        step("= assign b x"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_effects_are_those_of_eager_execution(name: str, torch: Torch, case: Make) -> None:
    agrees(name, torch, case)


def test_functional_collectives_are_waited_for_in_any_order_and_twice(functional: Torch, case: Make) -> None:
    agrees("started, waited for backwards and twice", functional, case)


def agrees(name: str, torch: Torch, case: Make) -> None:
    plain = case("all_reduce", 2, shape=(8,), op="sum")
    freed = {one.inputs[0] for one in PROGRAMS[name] if one.op == "free"}
    names = {output for one in PROGRAMS[name] for output in one.outputs if not one.start and output not in freed}
    results = tuple(sorted(names - {"z"} if freed else names))
    program = msgspec.structs.replace(plain.program, steps=tuple(PROGRAMS[name]), results=results)
    asked = msgspec.structs.replace(plain, program=program)
    ops = [one.op for one in program.collectives]
    assert supported(torch.claims, ops, features(asked)) is None
    seen = torch.execute(asked)
    assert (seen.errors, seen.touched) == ((), ())
    for result, blocks in evaluate(asked).items():
        assert seen.results[result] == tuple(from_array(block) for block in blocks if block is not None)
