"""Every wrong value of a graph is looked at: those made of another wrong one tell nothing, all others do."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.observation import Observation
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.specs.graphs import CLAUSES

A = np.array([1.5, 2.0, 3.0, 4.0], np.float32)


def node(id: str, op: str, *of: str, dtype: str = "float32", arg: object = None) -> Node:
    return Node(id=id, op=op, of=of, dtype=dtype, shape=(4,), device="d0", arg=arg)


def held(wrong: set[str], *nodes: Node) -> dict[str, str]:
    """Return what clauses say where the values of some nodes have a wrong bit, and the others are right."""
    every = (node("a", "buf", arg="a"), *nodes)
    asked = tuple(each.id for each in nodes)
    case = GraphCase(
        graph=Graph(nodes=every, results=asked),
        buffers={"a": from_array(A)},
        rounds=(Round(until=len(every), asked=asked),),
    )
    subject = graph_meaning(case)
    given = {key: worth.array.copy() for key, worth in subject.expected.items()}
    for name in wrong:
        given[f"0/{name}"].view(np.uint8).reshape(-1)[-1] ^= 1
    seen = Observation(results={key: (from_array(value),) for key, value in given.items()})
    return judge_graph(subject, seen, CLAUSES, STANDARD).clauses


NEGATED = node("n", "alu", "a", arg="neg")
BITS = node("b", "bitcast", "a", dtype="int32")
BITS_OF_NEGATED = node("b", "bitcast", "n", dtype="int32")


@pytest.mark.parametrize(
    ("wrong", "nodes", "of_float", "of_bitcast"),
    [
        (set(), (NEGATED, BITS), "held", "held"),
        ({"n"}, (NEGATED, BITS), "broken", "held"),
        ({"b"}, (NEGATED, BITS), "held", "broken"),
        ({"n", "b"}, (NEGATED, BITS), "broken", "broken"),
        ({"n", "b"}, (NEGATED, BITS_OF_NEGATED), "broken", None),
        ({"b"}, (NEGATED, BITS_OF_NEGATED), "broken", "broken"),
    ],
)
def test_a_wrong_value_tells_unless_it_is_made_of_a_wrong_one(
    wrong: set[str], nodes: tuple[Node, ...], of_float: str, of_bitcast: str | None
) -> None:
    found = held(wrong, *nodes)
    assert (found.get("graph.C8"), found.get("graph.C12")) == (of_float, of_bitcast)


def test_of_a_value_in_another_shape_no_bit_is_said_to_be_right() -> None:
    nodes = (node("a", "buf", arg="a"), NEGATED)
    graph = Graph(nodes=nodes, results=("n",))
    case = GraphCase(graph=graph, buffers={"a": from_array(A)}, rounds=(Round(until=2, asked=("n",)),))
    seen = Observation(results={"0/n": (from_array(-A[:3]),)})
    found = judge_graph(graph_meaning(case), seen, CLAUSES, STANDARD).clauses
    assert found["graph.C1"] == "broken"
    assert "graph.C2" not in found


@pytest.mark.parametrize(("part", "said"), [(2.0, "held"), (5.0, "broken")])
def test_graph_c8_of_the_part_beside_a_computed_nan(part: float, said: str) -> None:
    block = np.array([complex(np.nan, 1), complex(1, 2), complex(3, 4), complex(5, 6)], np.complex64)
    nodes = (node("a", "buf", arg="a", dtype="complex64"), node("y", "alu", "a", "a", arg="add", dtype="complex64"))
    case = GraphCase(
        graph=Graph(nodes=nodes, results=("y",)),
        buffers={"a": from_array(block)},
        rounds=(Round(until=2, asked=("y",)),),
    )
    given = block + block
    given[0] = complex(-np.nan, part)
    seen = Observation(results={"0/y": (from_array(given),)})
    assert judge_graph(graph_meaning(case), seen, CLAUSES, STANDARD).clauses["graph.C8"] == said


@pytest.mark.parametrize(
    ("parts", "given", "said"),
    [
        ([1, 2, 3, 4], 10.0, "held"),
        ([1, 2, 3, 4], 5.0, "broken"),
        ([0.1, 1234.567, -0.3, 2.0**-14], 1234.3671875, "silent"),  # beside a NaN what rounds has no bound
    ],
)
def test_graph_c13_the_part_beside_a_nan_is_that_of_some_order(parts: list[float], given: float, said: str) -> None:
    block = np.array([complex(1, each) for each in parts], np.complex64)
    block[0] = complex(np.nan, parts[0])
    fold = Node(id="y", op="reduce", of=("a",), dtype="complex64", shape=(), device="d0", arg=(0,), fold="add")
    case = GraphCase(
        graph=Graph(nodes=(node("a", "buf", arg="a", dtype="complex64"), fold), results=("y",)),
        buffers={"a": from_array(block)},
        rounds=(Round(until=2, asked=("y",)),),
    )
    seen = Observation(results={"0/y": (from_array(np.array(complex(np.nan, given), np.complex64)),)})
    found = judge_graph(graph_meaning(case), seen, CLAUSES, STANDARD).clauses
    assert found.get("graph.C13", "silent") == said
