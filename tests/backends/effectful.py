"""Programs with effects that any backend with real ranks can run, and what the reference says of them."""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.backends.base import Backend
from conformance.backends.claim_limits import supported
from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.cases.program.features import features
from conformance.cases.program.program import Step
from conformance.cases.tensor.tensor import from_array
from conformance.reference.spmd import evaluate
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer

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
    "views of returned storage": [
        step("b = buffer x"), step("t = all_reduce b", **SUM, into=("b",), start=True), step("y = done t"),
        step("v = view y", **HALF), step("w = all_reduce b", **SUM, into=("b",)), step("u = view w", **HALF),
        step("c = copy u"), step("= assign b x"),
    ],
}  # fmt: skip


def written(plain: Case, steps: list[Step]) -> Case:
    """Return ``steps`` on the input of ``plain``, called x, with no results."""
    program = msgspec.structs.replace(plain.program, steps=tuple(steps), results=())
    return Case(program=program, inputs={"x": next(iter(plain.inputs.values()))})


def spoilt(asked: Case, seen: Observation) -> list[tuple[str, int, int]]:
    """Return buffer, rank and element of every change inside of a buffer, by which ``aliasing.C20`` is broken."""
    broken = verdict(meaning(asked), Answer(seen)).clauses["aliasing.C20"] == "broken"
    assert broken == bool(seen.touched)
    assert all(touch.inside for touch in seen.touched)
    return [(touch.input, touch.rank, touch.index) for touch in seen.touched]


def agrees(backend: Backend, plain: Case, steps: list[Step]) -> None:
    """Demand the values of the reference for ``steps`` on the input of ``plain``, called x, all of them claimed."""
    freed = {one.inputs[0] for one in steps if one.op == "free"}
    names = {
        output for one in steps for output in one.outputs if not one.start and output not in freed and one.op != "send"
    }
    results = tuple(sorted(names - {"z"} if freed else names))
    program = msgspec.structs.replace(plain.program, steps=tuple(steps), results=results)
    asked = Case(program=program, inputs={"x": next(iter(plain.inputs.values()))})
    ops = [one.op for one in program.collectives]
    assert supported(backend.claims, ops, features(asked)) is None
    seen = backend.execute(asked)
    assert (seen.errors, seen.touched) == ((), ())
    for result, blocks in evaluate(asked).items():
        wanted = zip(blocks, seen.results[result], strict=True)
        assert all(block is None or from_array(block) == found for block, found in wanted)
