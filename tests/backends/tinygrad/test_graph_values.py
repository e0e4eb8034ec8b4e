"""Graphs on tinygrad."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.tinygrad import TinyGrad
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.specs.graphs import CLAUSES
from conformance.specs.schedules.domain.build import alu, graph, node, stored


@pytest.mark.parametrize("op", ["contig", "copy", "cast", "bitcast"])
def test_what_is_computed_of_a_buffer_keeps_its_value(tinygrad: TinyGrad, op: str) -> None:
    nodes = (stored("a"), node("kept", op, "a"), alu("neg", "neg", "a"), node("b", "assign", "a", "neg"))
    case = GraphCase(
        graph=graph(*nodes, results=["kept", "b"]),
        buffers={"a": from_array(np.arange(1, 5, dtype=np.float32))},
        rounds=(Round(until=4, asked=("kept", "b")),),
    )
    assert judge_graph(graph_meaning(case), tinygrad.graph(case), CLAUSES, STANDARD).outcome == "passed"
