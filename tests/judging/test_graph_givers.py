"""What operations give is asked of them wherever it is seen: gathered, chosen, in functions, beside others."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Function, Graph, Node
from conformance.cases.observation import Observation
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.specs.graphs import CLAUSES
from tests.judging.test_graph_freedom import alu, node

BUFFERS = {
    "a": np.array([2], np.float32),
    "b": np.array([0], np.float32),
    "i": np.array([0], np.int32),
    "o": np.array([7], np.int32),
    "c": np.array([True]),
    "p": np.array([100], np.int8),
    "q": np.array([100], np.int16),
    "z": np.array([0], np.int16),
    "n": np.array([np.nan], np.float32),
}
NEXT = np.nextafter(np.sqrt(BUFFERS["a"]), np.float32(9))
ROOT = alu("r", "sqrt", "a")
SUM = Function(
    nodes=(
        node("u", "param", arg=0, dtype="int8"),
        node("v", "param", arg=1, dtype="int16"),
        alu("s", "add", "u", "v", dtype="int16"),
    ),
    result="s",
)
OUTER = Function(nodes=(*SUM.nodes[:2], node("s", "call", "u", "v", dtype="int16", arg="sum")), result="s")


def said(clause: str, given: Array, *nodes: Node) -> str | None:
    """Return what a clause says of a value given for the last node."""
    leaves = [node(name, "buf", dtype=str(each.dtype), arg=name) for name, each in BUFFERS.items()]
    every = (*leaves, *nodes)
    case = GraphCase(
        graph=Graph(nodes=every, results=(every[-1].id,), functions={"sum": SUM, "outer": OUTER}),
        buffers={name: from_array(each) for name, each in BUFFERS.items()},
        rounds=(Round(until=len(every), asked=(every[-1].id,)),),
    )
    seen = Observation(results={f"0/{every[-1].id}": (from_array(given),)})
    return judge_graph(graph_meaning(case), seen, CLAUSES, STANDARD).clauses.get(clause)


@pytest.mark.parametrize(
    "nodes",
    [
        (node("g", "gather", "a", "i", arg=0), alu("y", "sqrt", "g")),
        (alu("e", "exp2", "b"), alu("d", "add", "e", "e"), alu("y", "sqrt", "d")),
        (ROOT, alu("y", "where", "c", "r", "b")),
        (ROOT, node("y", "gather", "r", "i", arg=0)),
    ],
)
def test_graph_c39_a_root_beside_other_operations(nodes: tuple[Node, ...]) -> None:
    assert said("graph.C39", NEXT, *nodes) == "broken"
    assert said("graph.C39", np.sqrt(BUFFERS["a"]), *nodes) == "held"


def test_graph_c39_says_nothing_of_what_a_function_or_an_index_leaves_open() -> None:
    beside = (ROOT, alu("e", "exp2", "a"), alu("y", "where", "c", "e", "r"))
    assert said("graph.C39", np.array([4], np.float32), *beside) is None
    outside = (ROOT, node("y", "gather", "r", "o", arg=0))
    assert said("graph.C39", np.array([9], np.float32), *outside) is None
    assert said("graph.C42", np.array([9], np.float32), *outside) == "broken"


@pytest.mark.parametrize("function", ["sum", "outer"])
def test_graph_c23_of_operands_of_several_dtypes_in_a_function(function: str) -> None:
    call = node("y", "call", "p", "q", dtype="int16", arg=function)
    assert said("graph.C23", np.array([-56], np.int16), call) == "broken"


@pytest.mark.parametrize(
    ("clause", "given", "made"),
    [
        ("graph.C7", np.array([9], np.int16), alu("y", "div", "q", "z", dtype="int16")),
        ("graph.C23", np.array([9], np.int16), alu("y", "div", "p", "z", dtype="int16")),
        ("graph.C24", np.array([2], np.float32), alu("y", "max", "a", "n")),
        ("graph.C2", np.array([2], np.float32), alu("y", "max", "a", "n")),
    ],
)
def test_a_clause_says_nothing_where_no_must_asks_for_any_element(clause: str, given: Array, made: Node) -> None:
    assert said(clause, given, made) is None
