"""The bytes of all values of a case are bounded before any is computed, and drawn cases are far inside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.codec import load, save
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.codec import load_graph, save_graph
from conformance.cases.graph.graph import Function, Graph, Node
from conformance.cases.graph.value_bytes import graph_values
from conformance.cases.program.program import Axis, Program
from conformance.cases.program.value_bytes import program_values
from conformance.cases.tensor.footprint import MOST_MADE, VARIABLE
from conformance.cases.tensor.tensor import from_array
from conformance.cases.types.codec import load_typed, save_typed
from conformance.cases.types.typed_case import Level, TypedCase
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.cases.types.value_bytes import typed_values
from conformance.reference.spmd import evaluate
from conformance.runner.dialects import dialects
from conformance.runner.draws import numbered
from tests.cases.conftest import Make


def gathers(case: Case, count: int) -> Case:
    """Return the case with as many all_gathers, each on the last."""
    one, names = case.program.steps[0], ["x", *(f"v{number}" for number in range(1, count + 1))]
    steps = tuple(replace(one, inputs=(taken,), outputs=(made,)) for taken, made in pairwise(names))
    return Case(program=Program(mesh=case.program.mesh, steps=steps, results=(f"v{count}",)), inputs=case.inputs)


def test_a_chain_of_gathers_names_the_step_that_is_too_much(make: Make, tmp_path: Path) -> None:
    save(gathers(make(), 36), tmp_path / "case.json")
    with pytest.raises(CaseError) as caught:
        load(tmp_path / "case.json")
    assert str(caught.value) == (
        f"case file {tmp_path / 'case.json'}: step 25 (all_gather): the values up to this one have 1024.0 MiB, over "
        "the limit of 512.0 MiB for a case; CONFORMANCE_MOST_BYTES=BYTES in the environment allows more"
    )


def test_the_caller_can_raise_the_limit_and_lower_it(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = gathers(make(), 3)
    save(case, tmp_path / "case.json")
    assert load(tmp_path / "case.json") == case
    total = sum(size for _, size in program_values(case))
    for most, fits in ((total, True), (total - 1, False)):
        monkeypatch.setenv(VARIABLE, str(most))
        if fits:
            assert load(tmp_path / "case.json") == case
        else:
            with pytest.raises(CaseError, match="step 2"):
                load(tmp_path / "case.json")


@pytest.mark.parametrize("said", ["", "0", "-1", "1e9", "4GiB", "9" * 30, "²"])
def test_a_limit_that_is_no_number_of_bytes_is_told(
    make: Make, tmp_path: Path, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(make(), tmp_path / "case.json")
    monkeypatch.setenv(VARIABLE, said)
    with pytest.raises(CaseError, match=f"{VARIABLE} is .* it should be a number of bytes, such as {MOST_MADE}"):
        load(tmp_path / "case.json")


def test_a_graph_of_many_large_nodes_is_refused(tmp_path: Path) -> None:
    large: dict[str, Any] = {"shape": (1 << 20,), "dtype": "float32", "device": "d"}
    first = Node(id="n0", op="iota", arg=0, **large)
    nodes = (first, *(Node(id=f"n{n}", op="alu", arg="neg", of=(f"n{n - 1}",), **large) for n in range(1, 80)))
    case = GraphCase(graph=Graph(nodes=nodes, results=("n79",)), buffers={}, rounds=(Round(until=80, asked=("n79",)),))
    save_graph(case, tmp_path / "case.json")
    with pytest.raises(CaseError, match=r"node 'n64' \(alu\): the values up to this one have 520.0 MiB"):
        load_graph(tmp_path / "case.json")


def test_calls_of_functions_count_each_time() -> None:
    one: dict[str, Any] = {"shape": (4,), "dtype": "float32", "device": "d"}
    functions = {}
    for n in range(4):
        body = [Node(id="p", op="param", arg=0, **one)]
        body += [Node(id=f"c{m}", op="call", of=("p",), arg=f"f{n - 1}", **one) for m in range(10 if n else 0)]
        functions[f"f{n}"] = Function(nodes=tuple(body), result=body[-1].id)
    call = Node(id="r", op="call", of=("a",), arg="f3", **one)
    graph = Graph(nodes=(Node(id="a", op="iota", arg=0, **one), call), results=("r",), functions=functions)
    assert dict(graph_values(graph))["node 'r' (call)"] > 1000 * 4 * 8


def test_a_program_mapped_over_many_slices_is_refused(tmp_path: Path) -> None:
    program = TypedProgram(
        mesh=(Axis("i", 1),),
        inputs={"x": TypedInput(dtype="float32", shape=(0,))},
        steps=(TypedStep(op="negate", inputs=("x",), output="y"),),
        results=("y",),
    )
    blocks = (from_array(np.zeros((1 << 15, 0), np.float32)),)
    case = TypedCase(program=program, inputs={"x": blocks}, batch=(Level(name="b", size=1 << 15, inputs={"x": 0}),))
    save_typed(case, tmp_path / "case.json")
    with pytest.raises(CaseError, match="slices on ranks are 32768; at most 16384 are allowed"):
        load_typed(tmp_path / "case.json")


DRAWN = 8
"""Draws of each operation of each suite: 700 cases of all dialects in 10 s."""


def drawn() -> Iterator[tuple[str, Any]]:
    for name, dialect in dialects().items():
        for suite in dialect.suites.values():
            for domain in suite.domains.values():
                yield from ((name, numbered(domain, 3, number)[0]) for number in range(DRAWN))


def total(name: str, case: Any) -> int:
    """Return the bytes of all values of a drawn case."""
    asked = case.of if name == "schedule" else case
    if isinstance(asked, Case):
        return sum(size for _, size in program_values(asked))
    if name == "types":
        return sum(size for _, size in typed_values(asked))
    copies = asked.world if name == "global" else 1
    graph = asked.of.graph if name == "global" else getattr(asked, "graph", asked)
    return sum(size for _, size in graph_values(graph, copies))


@pytest.mark.slow
def test_drawn_cases_of_all_dialects_are_far_inside_the_limit() -> None:
    found = [total(name, case) for name, case in drawn()]
    assert len(found) > 500
    assert max(found) < MOST_MADE / 4


def test_no_result_of_a_drawn_program_is_larger_than_was_foretold() -> None:
    checked = 0
    for domain in dialects()["spmd"].suites["collectives"].domains.values():
        for number in range(10):
            case = numbered(domain, 1, number)[0]
            try:
                results = evaluate(case)
            except ValueError:
                continue
            made = sum(block.nbytes for blocks in results.values() for block in blocks if block is not None)
            assert made <= sum(size for _, size in program_values(case)), json.dumps(str(case.program))
            checked += 1
    assert checked > 100
