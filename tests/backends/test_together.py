"""Compiled adapters asked about several cases at once: each result, and each refusal, is that of the case alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.base import Backend
from conformance.backends.companies import joint
from conformance.backends.discovery import find, load
from conformance.cases.case import Case, Operand
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.observation import Joint, Observation
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array

DEFAULTS: dict[str, dict[str, Any]] = {
    "all_gather": {"axis": 0, "tiled": True},
    "reduce_scatter": {"op": "sum", "axis": 0, "tiled": True},
    "all_reduce": {"op": "max"},
}


def program(op: str, dtype: type = np.int32, extent: int = 2) -> Case:
    """Return one collective of small numbers on two ranks."""
    blocks = tuple(from_array(np.arange(rank, rank + extent).astype(dtype)) for rank in range(2))
    step = Step(op=op, inputs=("x",), outputs=("y",), axes=("i",), attrs=DEFAULTS[op])
    made = Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",))
    return Case(program=made, inputs={"x": Operand(blocks=blocks, layouts=("contiguous",) * 2)})


def graph(first: float, *, rounds: int = 1) -> GraphCase:
    """Return a graph that adds a buffer to itself, and again in each further round."""
    nodes = [Node(id="b", op="buf", shape=(2,), dtype="float32", device="d0", arg="b")]
    for at in range(rounds):
        of = ("b", "b") if not at else (f"n{at - 1}", "b")
        nodes.append(Node(id=f"n{at}", op="alu", of=of, shape=(2,), dtype="float32", device="d0", arg="add"))
    listed = tuple(Round(until=2 + at, asked=(f"n{at}",)) for at in range(rounds))
    held = from_array(np.array([first, 1.0], np.float32))
    return GraphCase(graph=Graph(nodes=tuple(nodes), results=(f"n{rounds - 1}",)), buffers={"b": held}, rounds=listed)


def timeless(seen: Observation) -> Observation:
    """Return an observation without its time."""
    return replace(seen, seconds=0.0)


def together(backend: Backend, cases: list[Any]) -> list[Observation]:
    """Return what a company gives."""
    seen = joint(backend, cases)
    assert isinstance(seen, Joint), seen.errors
    return [timeless(each) for each in seen.together]


@pytest.mark.parametrize("name", ["jax", "jax-vmap", "stablehlo"])
def test_programs_in_company_give_what_they_give_alone_and_one_that_is_refused_spoils_no_other(name: str) -> None:
    backend = load(find(name))
    cases = [
        program("all_gather"),
        program("reduce_scatter", extent=0),  # the verifier refuses it
        program("all_reduce", np.float32),
        program("reduce_scatter", np.bool_),  # JAX refuses to trace it
        program("all_gather", np.uint8, 3),
    ]
    alone = [timeless(backend.execute(case)) for case in cases]
    found = together(backend, cases)
    assert [(each.results, each.raised) for each in found] == [(each.results, each.raised) for each in alone]
    assert [each.errors[0] and each.errors[0].kind for each in found if each.raised] == [
        each.errors[0] and each.errors[0].kind for each in alone if each.raised
    ]
    assert not found[0].raised


@pytest.mark.parametrize("name", ["jax", "stablehlo"])
def test_graphs_in_company_give_what_they_give_alone_whatever_their_rounds(name: str) -> None:
    backend = load(find(name))
    cases = [graph(1.0), graph(2.0, rounds=2), graph(3.0)]
    assert together(backend, cases) == [timeless(backend.graph(case)) for case in cases]


def test_an_answer_too_few_is_an_error_of_the_company() -> None:
    class Short(Backend):
        def execute_together(self, cases: Any) -> list[Observation]:
            return [Observation() for _ in cases[1:]]

    seen = joint(Short(), [program("all_gather"), program("all_reduce")])
    assert not isinstance(seen, Joint)
    assert seen.errors[0]
    assert "1 answers for 2 cases" in seen.errors[0].message
