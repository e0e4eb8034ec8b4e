"""What a framework says otherwise of graphs passes for who follows it, and for nobody else."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.observation import Observation
from conformance.cases.tensor.dtypes import Array, logical
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.judging.verdict import Verdict
from conformance.specs.graphs import CLAUSES

INF, NAN = float("inf"), float("nan")


def node(id: str, op: str, *of: str, dtype: str = "float32", shape: tuple[int, ...] = (2,), **rest: Any) -> Node:
    return Node(id=id, op=op, of=of, dtype=dtype, shape=shape, device="d0", **rest)  # type: ignore[arg-type]


def judged(a: Array, given: Array, *nodes: Node, follows: tuple[str, ...] = (), asked: str = "x") -> Verdict:
    every = (node("a", "buf", dtype=logical(a.dtype), shape=a.shape, arg="a"), *nodes)
    rounds = (Round(until=len(every), asked=(asked,)),)
    case = GraphCase(graph=Graph(nodes=every, results=(asked,)), buffers={"a": from_array(a)}, rounds=rounds)
    seen = Observation(results={f"0/{asked}": (from_array(given),)})
    return judge_graph(graph_meaning(case), seen, CLAUSES, STANDARD, follows)


def f32(*numbers: float) -> Array:
    return np.array(numbers, np.float32)


ZERO = node("z", "const", arg=from_array(np.float32(0)))
FOLDS = {
    "x - x": (0.0, (node("x", "alu", "a", "a", arg="sub"),)),
    "x - x of two that are alike": (
        0.0,
        (node("b", "alu", "a", arg="neg"), node("c", "alu", "a", arg="neg"), node("x", "alu", "b", "c", arg="sub")),
    ),
    "x + -x": (0.0, (node("n", "alu", "a", arg="neg"), node("x", "alu", "n", "a", arg="add"))),
    "x * 0": (0.0, (ZERO, node("x", "alu", "a", "z", arg="mul"))),
    "x times what is counted along one element": (
        0.0,
        (
            node("i", "iota", shape=(1,), arg=0),
            node("e", "expand", "i"),
            node("x", "alu", "a", "e", arg="mul"),
        ),
    ),
    "x / x": (1.0, (node("x", "alu", "a", "a", arg="div"),)),
}


@pytest.mark.parametrize("name", FOLDS)
def test_tinygrad_folds_what_is_infinite_as_its_source_says(name: str) -> None:
    number, nodes = FOLDS[name]
    assert judged(f32(INF, 2), f32(number, number), *nodes, follows=("tinygrad",)).outcome == "passed"
    assert judged(f32(INF, 2), f32(number, number), *nodes, follows=("jax",)).outcome == "failed"
    assert judged(f32(INF, 2), f32(7, number), *nodes, follows=("tinygrad",)).outcome == "failed"


def test_tinygrad_folds_a_number_times_its_reciprocal() -> None:
    nodes = (node("r", "alu", "a", arg="recip"), node("x", "alu", "a", "r", arg="mul"))
    assert judged(f32(0, 2), f32(1, 1), *nodes, follows=("tinygrad",)).outcome == "passed"
    assert judged(f32(0, 2), f32(1, 1), *nodes, follows=("jax",)).outcome == "failed"


def test_tinygrad_folds_what_is_taken_away_and_added_again() -> None:
    nodes = (node("b", "alu", "a", "a", arg="mul"), node("d", "alu", "a", "b", arg="sub"))
    again = node("x", "alu", "d", "b", arg="add")
    assert judged(f32(INF, 2), f32(INF, 2), *nodes, again, follows=("tinygrad",)).outcome == "passed"
    assert judged(f32(INF, 2), f32(INF, 2), *nodes, again, follows=("jax",)).outcome == "failed"


def test_a_difference_of_two_values_is_folded_by_nobody() -> None:
    nodes = (node("b", "alu", "a", arg="abs"), node("x", "alu", "a", "b", arg="sub"))
    assert judged(f32(INF, 2), f32(0, 0), *nodes, follows=("tinygrad",)).outcome == "failed"


@pytest.mark.parametrize(("extent", "outcome"), [(1, "passed"), (2, "failed")])
def test_tinygrad_reads_late_what_is_folded_over_one_element_alone(extent: int, outcome: str) -> None:
    a = np.arange(2 * extent, dtype=np.float32).reshape(2, extent)
    nodes = (
        node("x", "reduce", "a", arg=(1,), fold="add"),
        node("v", "const", shape=a.shape, arg=from_array(np.float32(5))),
        node("w", "assign", "a", "v", shape=a.shape),
    )
    late = np.full((2, extent), 5, np.float32).sum(axis=1)
    assert judged(a, late, *nodes, follows=("tinygrad",)).outcome == outcome
    assert judged(a, late, *nodes).outcome == "failed"


@pytest.mark.parametrize("given", [1.25, 1.5])
def test_graph_c11_a_double_may_become_8_bits_by_way_of_16(given: float) -> None:
    x = node("x", "cast", "a", dtype="float8_e5m2", shape=(1,))
    assert judged(np.array([1.3748779296875]), np.array([given], ml_dtypes.float8_e5m2), x).outcome == "passed"


@pytest.mark.parametrize(("dtype", "given", "outcome"), [
    ("bfloat16", 0x7FC0, "passed"), ("bfloat16", 0x7F80, "failed"), ("float16", 0x7E00, "failed"),
])  # fmt: skip
def test_xla_gives_another_nan_for_one_that_it_moves_and_no_number(dtype: str, given: int, outcome: str) -> None:
    kept, like = np.dtype(getattr(ml_dtypes, dtype, dtype)), np.uint16
    a = np.array([0x7FC1 if dtype == "bfloat16" else 0x7E01, 1], like).view(kept)
    result = np.array([0, given, 1], like).view(kept)
    pad = node("x", "pad", "a", dtype=dtype, shape=(3,), arg=((1, 0),))
    assert judged(a, result, pad, follows=("jax",)).outcome == outcome
    assert judged(a, result, pad).outcome == "failed"
