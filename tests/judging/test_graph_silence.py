"""Clauses about graphs say nothing of what is not there: an error that nobody raised, a value in another shape."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.elementwise import ARITY
from conformance.cases.graph.graph import Graph
from conformance.cases.observation import Observation, RankError
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.judging.verdict import Verdict
from conformance.specs.graphs import CLAUSES
from tests.judging.test_graph_freedom import node

ZERO = from_array(np.array([0.0], np.float32))


def judged(shape: tuple[int, ...], seen: Observation) -> Verdict:
    """Return the verdict on a reshape of the product of two zeros, which are of one element."""
    nodes = (
        node("a", "buf", arg="a"),
        node("x", "alu", "a", "a", arg="mul"),
        node("y", "reshape", "x", shape=shape),
    )
    case = GraphCase(
        graph=Graph(nodes=nodes, results=("y",)), buffers={"a": ZERO}, rounds=(Round(until=3, asked=("y",)),)
    )
    return judge_graph(graph_meaning(case), seen, CLAUSES, STANDARD)


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        ((), None),
        ((RankError(kind="E", message="no", category="invalid_argument"),), "held"),
        ((RankError(kind="E", message="no", category="internal"),), "broken"),
    ],
)
def test_graph_c5_says_nothing_of_a_graph_that_was_not_refused(errors: tuple[RankError, ...], said: str | None) -> None:
    assert judged((3,), Observation(errors=errors)).clauses.get("graph.C5") == said


@pytest.mark.parametrize(("given", "said"), [([0.0], "held"), ([-0.0], "broken"), ([0.0, 0.0], None)])
def test_graph_c38_says_nothing_of_a_zero_in_another_shape(given: list[float], said: str | None) -> None:
    seen = Observation(results={"0/y": (from_array(np.array(given, np.float32)),)})
    assert judged((1,), seen).clauses.get("graph.C38") == said


@pytest.mark.parametrize(
    ("dtype", "op", "numbers", "said"),
    [
        ("float8_e5m2", "log2", [-1.0], ("held", "held")),
        ("float32", "log2", [-1.0], ("held", "held")),
        ("float32", "max", [np.nan], (None, None)),
    ],
)
def test_graph_c26_and_c2_say_nothing_of_what_may_be_any_number(
    dtype: str, op: str, numbers: list[float], said: tuple[str | None, str | None]
) -> None:
    block = np.array(numbers, NUMPY[dtype])
    nodes = [node(name, "buf", arg=name, dtype=dtype, shape=block.shape) for name in "ab"]
    nodes.append(node("y", "alu", *"ab"[: ARITY[op]], arg=op, dtype=dtype, shape=block.shape))
    case = GraphCase(
        graph=Graph(nodes=tuple(nodes), results=("y",)),
        buffers={"a": from_array(block), "b": from_array(np.ones_like(block))},
        rounds=(Round(until=3, asked=("y",)),),
    )
    subject = graph_meaning(case)
    seen = Observation(results={"0/y": (from_array(subject.expected["0/y"].array),)})
    clauses = judge_graph(subject, seen, CLAUSES, STANDARD).clauses
    assert (clauses.get("graph.C26"), clauses.get("graph.C2")) == said


@pytest.mark.parametrize(
    ("op", "dtype", "said"),
    [
        ("exp2", "float32", {"graph.C3", "graph.C26", "graph.C40"}),
        ("div", "float32", {"graph.C2", "graph.C25"}),
        ("div", "complex64", {"graph.C3"}),
        ("sub", "float32", {"graph.C2", "graph.C8"}),
    ],
)
def test_graph_c8_is_about_no_quotient_root_or_function(op: str, dtype: str, said: set[str]) -> None:
    nodes = [node(name, "buf", arg=name, dtype=dtype) for name in "ab"]
    nodes.append(node("y", "alu", *"ab"[: ARITY[op]], arg=op, dtype=dtype))
    case = GraphCase(
        graph=Graph(nodes=tuple(nodes), results=("y",)),
        buffers={name: from_array(np.array([each], dtype)) for name, each in (("a", 6.0), ("b", 3.0))},
        rounds=(Round(until=3, asked=("y",)),),
    )
    seen = Observation(results={"0/y": (from_array(np.array([7.0], dtype)),)})
    clauses = judge_graph(graph_meaning(case), seen, CLAUSES, STANDARD).clauses
    assert {clause for clause, held in clauses.items() if held == "broken"} == said
