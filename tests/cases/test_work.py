"""What is handed in asks for no more work than is allowed, counted before any begins; drawn cases ask for less."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.case_error import CaseError
from conformance.cases.codec import load, save
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.codec import load_graph, save_graph
from conformance.cases.graph.graph import Function, Graph, Node
from conformance.cases.graph.work import graph_case_work, graph_work
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.program.work import program_work
from conformance.cases.schedule.codec import load_schedule
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.tensor import from_array
from conformance.cases.types.codec import load_typed, save_typed
from conformance.cases.types.typed_case import Level, TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.cases.types.work import typed_work
from conformance.cases.work import MOST_WORK, VARIABLE
from conformance.runner.dialects import dialects
from conformance.runner.draws import numbered
from tests.cases.test_bounds import drawn

OVER = r"up to here judging it takes .* steps, over the limit of .*; CONFORMANCE_MOST_WORK=STEPS in the environment"


def reduced(ranks: int, values: Any, steps: int = 1, **attrs: Any) -> Case:
    """Return a chain of all_reduces of blocks of one axis."""
    names = [f"v{number}" for number in range(steps + 1)]
    made = tuple(
        Step(op="all_reduce", inputs=(a,), outputs=(b,), axes=("i",), attrs={"op": "sum", **attrs})
        for a, b in pairwise(names)
    )
    blocks = tuple(from_array(np.asarray(values(rank))) for rank in range(ranks))
    operand = Operand(blocks=blocks, layouts=("contiguous",) * ranks)
    return Case(program=Program(mesh=(Axis("i", ranks),), steps=made, results=(names[-1],)), inputs={"v0": operand})


def floats(size: int) -> Any:
    return lambda rank: np.random.default_rng(rank).standard_normal(size).astype(np.float32)


@pytest.mark.parametrize(
    "case",
    [
        reduced(16, floats(1 << 18)),
        reduced(2, floats(1 << 15), op="product", local_axes=(0,)),
        reduced(2, floats(1 << 17), steps=40),
    ],
    ids=["unlike columns", "a long product", "many steps"],
)
def test_a_program_that_rounds_too_much_is_refused(case: Case, tmp_path: Path) -> None:
    save(case, tmp_path / "case.json")
    with pytest.raises(CaseError, match=f"step .*: {OVER}"):
        load(tmp_path / "case.json")


def test_long_blocks_of_few_values_are_looked_at_once_a_column(tmp_path: Path) -> None:
    save(reduced(16, lambda rank: np.tile(np.float32([0.1, 0.2, 0.3, rank]), 1 << 16)), tmp_path / "case.json")
    load(tmp_path / "case.json")


def test_the_caller_can_raise_the_limit_and_lower_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = reduced(2, floats(8))
    save(case, tmp_path / "case.json")
    total = sum(steps for _, steps in program_work(case))
    monkeypatch.setenv(VARIABLE, str(total))
    assert load(tmp_path / "case.json") == case
    monkeypatch.setenv(VARIABLE, str(total - 1))
    with pytest.raises(CaseError, match=OVER):
        load(tmp_path / "case.json")
    monkeypatch.setenv(VARIABLE, "much")
    with pytest.raises(CaseError, match=f"{VARIABLE} is 'much'; it should be a number of steps, such as {MOST_WORK}"):
        load(tmp_path / "case.json")


def test_calls_of_functions_on_nothing_count_each_time(tmp_path: Path) -> None:
    none: dict[str, Any] = {"shape": (0,), "dtype": "float32", "device": "d"}
    functions = {}
    for number in range(12):
        body = [Node(id="p", op="param", arg=0, **none)]
        inner = f"f{number - 1}"
        body += [Node(id=f"c{m}", op="call", of=("p",), arg=inner, **none) for m in range(10 if number else 0)]
        functions[f"f{number}"] = Function(nodes=tuple(body), result=body[-1].id)
    nodes = (Node(id="a", op="iota", arg=0, **none), Node(id="r", op="call", of=("a",), arg="f11", **none))
    graph = Graph(nodes=nodes, results=("r",), functions=functions)
    save_graph(GraphCase(graph=graph, buffers={}, rounds=(Round(until=2, asked=("r",)),)), tmp_path / "case.json")
    with pytest.raises(CaseError, match=rf"node 'r' \(call\): {OVER}"):
        load_graph(tmp_path / "case.json")


def test_long_sums_of_a_graph_are_refused(tmp_path: Path) -> None:
    long: dict[str, Any] = {"shape": (1 << 22,), "dtype": "float32", "device": "d"}
    one: dict[str, Any] = {"shape": (), "dtype": "float32", "device": "d"}
    nodes = [Node(id="a", op="iota", arg=0, **long)]
    nodes += [Node(id=f"r{n}", op="reduce", of=("a",), fold="add", arg=(0,), **one) for n in range(8)]
    graph = Graph(nodes=tuple(nodes), results=("r7",))
    save_graph(GraphCase(graph=graph, buffers={}, rounds=(Round(until=9, asked=("r7",)),)), tmp_path / "case.json")
    with pytest.raises(CaseError, match=rf"node 'r\d' \(reduce\): {OVER}"):
        load_graph(tmp_path / "case.json")


def test_a_program_mapped_over_many_slices_in_many_steps_is_refused(tmp_path: Path) -> None:
    steps = tuple(TypedStep(op="negate", inputs=(f"x{n}",), output=f"x{n + 1}") for n in range(1000))
    inputs = {"x0": TypedInput(dtype="float32", shape=(0,))}
    program = TypedProgram(mesh=(Axis("i", 1),), inputs=inputs, steps=steps, results=("x1000",))
    blocks = (from_array(np.zeros((1 << 13, 0), np.float32)),)
    case = TypedCase(program=program, inputs={"x0": blocks}, batch=(Level(name="b", size=1 << 13, inputs={"x0": 0}),))
    save_typed(case, tmp_path / "case.json")
    with pytest.raises(CaseError, match=OVER):
        load_typed(tmp_path / "case.json")


def buffer(name: str, size: int, **more: Any) -> dict[str, Any]:
    return {"id": name, "device": "d", "dtype": "float32", "size": size, **more}


def strided(extent: int) -> list[dict[str, Any]]:
    return [{"extents": [extent], "strides": [2]}]


def copies(count: int, **access: Any) -> list[dict[str, Any]]:
    accesses = [{"buffer": "a", **access}, {"buffer": "b", "write": True, **access}]
    return [{"kind": "copy", "id": f"k{n}", "accesses": accesses} for n in range(count)]


def sine(number: int, extent: int) -> dict[str, Any]:
    whole = [{"extents": [extent], "strides": [1]}]
    told = [{"do": "load", "access": 0}, {"do": "alu", "op": "sin", "of": [0]}, {"do": "store", "access": 1, "of": 1}]
    accesses = [{"buffer": "a", "map": whole}, {"buffer": "b", "write": True, "map": whole}]
    bodies = [{"extents": [extent], "instructions": told}]
    return {"kind": "kernel", "id": f"k{number}", "device": "d", "after": [], "accesses": accesses, "bodies": bodies}


BUFFERS = [buffer("a", 8 << 20, preexisting=True), buffer("b", 8 << 20)]
NOTHING = {"nodes": [], "results": []}
CALLED = {"parameters": 2, "buffers": BUFFERS, "items": copies(300)}


@pytest.mark.parametrize(
    "more",
    [
        {"items": copies(40, map=strided(1 << 20))},
        {"items": copies(5000)},
        {"items": [sine(n, 1 << 20) for n in range(6)], "graph": NOTHING},
        {
            "items": [{"kind": "call", "id": f"k{n}", "sequence": "s", "buffers": ["a", "b"]} for n in range(300)],
            "sequences": {"s": CALLED},
        },
    ],
    ids=["rows of strided maps", "pairs of items", "runs in other orders", "calls of sequences"],
)
def test_a_schedule_that_multiplies_is_refused_in_one_line(more: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "schedule.json"
    buffers = [dict(each) for each in BUFFERS]
    devices = {"d": {"alignment": 1}}
    file.write_text(json.dumps({"format": 2, "devices": devices, "buffers": buffers, "variables": {}, **more}))
    with pytest.raises(ScheduleError, match=rf"schedule file .*: item 'k\d+': {OVER}"):
        load_schedule(file)


def test_functions_that_call_each_other_without_end_are_refused_before_they_are_counted(tmp_path: Path) -> None:
    file, none = tmp_path / "schedule.json", {"shape": [], "dtype": "float32", "device": "d"}
    body = [{"id": "p", "op": "param", "arg": 0, **none}]
    functions = {
        f"f{n}": {"nodes": [*body, {"id": "c", "op": "call", "of": ["p"], "arg": f"f{n + 1}", **none}], "result": "c"}
        for n in range(5000)
    }
    called = [{"id": "a", "op": "iota", "arg": 0, **none}, {"id": "r", "op": "call", "of": ["a"], "arg": "f0", **none}]
    graph = {"nodes": called, "results": ["r"], "functions": functions}
    file.write_text(
        json.dumps({"format": 2, "devices": {}, "buffers": [], "variables": {}, "items": [], "graph": graph})
    )
    with pytest.raises(ScheduleError, match="the graph has 5000 functions; at most 100 are allowed"):
        load_schedule(file)


def test_work_is_counted_of_what_is_malformed_too(tmp_path: Path) -> None:
    file = tmp_path / "schedule.json"
    items = [
        {"kind": "call", "id": "k", "sequence": "no", "buffers": []},
        *copies(1, map=[{"extents": ["n // 0"], "strides": [1]}]),
    ]
    looped = [buffer("a", 4, base="b", offset=0), buffer("b", 4, base="a", offset=0)]
    file.write_text(json.dumps({"format": 2, "devices": {}, "buffers": looped, "variables": {}, "items": items}))
    with pytest.raises(ScheduleError, match="k"):
        load_schedule(file)


def work(name: str, case: Any) -> Iterator[tuple[str, int]]:
    """Yield what a drawn case asks for."""
    asked = case.of if name == "schedule" else case
    if isinstance(asked, Case):
        return program_work(asked)
    if name == "types":
        return typed_work(asked)
    if name == "schedule":
        return graph_work(asked)
    return graph_case_work(asked.of, asked.world) if name == "global" else graph_case_work(asked)


@pytest.mark.slow
def test_drawn_cases_of_all_dialects_ask_for_less() -> None:
    found = [sum(steps for _, steps in work(name, case)) for name, case in drawn()]
    assert len(found) > 500
    assert max(found) < MOST_WORK / 2


def test_drawn_cases_of_each_dialect_ask_for_less() -> None:
    for name, dialect in dialects().items():
        for suite in dialect.suites.values():
            domain = next(iter(suite.domains.values()))
            assert sum(steps for _, steps in work(name, numbered(domain, 11, 1)[0])) < MOST_WORK / 2
