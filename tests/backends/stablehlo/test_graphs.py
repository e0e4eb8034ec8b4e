"""Graphs in StableHLO: each node is an operation of the text, and the reference interpreter agrees with the oracle."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.claim_limits import outside
from conformance.backends.stablehlo import StableHlo
from conformance.cases.declarations.terms import Terms
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Node
from conformance.cases.schedule.builders import alu, graph, node, stored
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.verdict import judge_graph
from conformance.runner.dialects.graph import DIALECT
from conformance.runner.draws import numbered
from conformance.specs.graphs import CLAUSES

A = stored("a", shape=(2, 3))
DATA = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


@pytest.fixture(scope="module")
def interpreter() -> StableHlo:
    pytest.importorskip("jaxlib")
    return StableHlo()


def case(*nodes: Node, asked: str) -> GraphCase:
    listed = graph(A, *nodes, results=[asked])
    return GraphCase(
        graph=listed,
        buffers={"a": from_array(DATA)},
        rounds=(Round(until=len(listed.nodes), asked=(asked,), read=("a",)),),
    )


def test_a_written_view_is_a_scatter_into_the_storage(interpreter: StableHlo) -> None:
    column = node("column", "shrink", "a", shape=(2, 1), arg=((0, 2), (1, 2)))
    put = node("put", "assign", "column", "double", shape=(2, 1))
    given = interpreter.run_graph(
        case(column, alu("double", "add", "column", "column", shape=(2, 1)), put, asked="put")
    )
    wanted = DATA.copy()
    wanted[:, 1] *= 2
    np.testing.assert_array_equal(given["0/buffer/a"], wanted)


def test_movement_out_of_range_is_refused_for_its_argument(interpreter: StableHlo) -> None:
    for wrong in (
        node("b", "reshape", "a", shape=(4,)),
        node("b", "shrink", "a", shape=(2, 5), arg=((0, 2), (0, 5))),
    ):
        (error,) = interpreter.graph(case(wrong, asked="b")).errors
        assert error is not None
        assert error.category == "invalid_argument"


def test_an_operation_that_the_text_lacks_is_not_claimed(interpreter: StableHlo) -> None:
    assert "log2" not in interpreter.claims["graph"]["operation"]
    (error,) = interpreter.graph(case(alu("b", "log2", "a", shape=(2, 3)), asked="b")).errors
    assert error is not None
    assert error.category == "unsupported"


def test_a_maximum_of_a_dtype_without_infinities_begins_with_its_least_number(interpreter: StableHlo) -> None:
    given = np.array([[-448, -3, -2], [-8, -7, -6]]).astype(NUMPY["float8_e4m3fn"])
    most = node("most", "reduce", "a", shape=(2,), dtype="float8_e4m3fn", arg=(1,), fold="max")
    listed = graph(stored("a", shape=(2, 3), dtype="float8_e4m3fn"), most, results=["most"])
    asked = GraphCase(graph=listed, buffers={"a": from_array(given)}, rounds=(Round(until=2, asked=("most",)),))
    assert interpreter.run_graph(asked)["0/most"].astype(float).tolist() == [-2, -6]


def test_drawn_graphs_are_what_the_oracle_says(interpreter: StableHlo) -> None:
    domain, claims = DIALECT.suites["graphs"].domains["graph"], interpreter.claims
    judged = 0
    for number in range(60):
        subject = DIALECT.mean(numbered(domain, 0, number)[0])
        if subject is None or outside(claims, DIALECT.facts(subject).features):
            continue
        verdict = judge_graph(subject, interpreter.graph(subject.case), CLAUSES, Terms().numbers)
        assert verdict.outcome == "passed", verdict
        judged += 1
    assert judged > 20
