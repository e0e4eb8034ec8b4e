"""Graphs on Torch, eager and compiled."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from conformance.backends.torch import Torch, TorchCompile
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.schedule.builders import graph, node, stored
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.specs.graphs import CLAUSES


@pytest.mark.parametrize("adapter", [Torch, TorchCompile])
def test_a_runtime_error_that_names_what_is_wrong_with_an_argument_refuses_a_graph(adapter: type[Torch]) -> None:
    nodes = (stored("a"), node("wide", "expand", "a", shape=(6,), arg=(6,)))
    case = GraphCase(
        graph=graph(*nodes, results=["wide"]),
        buffers={"a": from_array(np.zeros(4, np.float32))},
        rounds=(Round(until=2, asked=("wide",)),),
    )
    with closing(adapter()) as backend:
        seen = backend.graph(case)
    assert [(error.kind, error.category) for error in seen.errors if error] == [("RuntimeError", "invalid_argument")]
    meaning = graph_meaning(case)
    assert not meaning.legal
    assert judge_graph(meaning, seen, CLAUSES, STANDARD).outcome == "passed"
