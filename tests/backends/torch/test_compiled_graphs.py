"""Graphs through ``torch.compile``."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.torch import TorchCompile
from conformance.cases.declarations.number_model import STANDARD, number_model
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.schedule.builders import alu, graph, node, stored
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array
from conformance.generate.domains import GRAPHS
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.runner.draws import numbered
from conformance.specs.graphs import CLAUSES

# What Inductor imports warns of itself, and is raised as an error of the compiler.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated:DeprecationWarning")


def written_between() -> GraphCase:
    """Return y = -a, then a[1:3] <- y[0:2], and what a and y are worth then."""
    nodes = (
        stored("a"), alu("y", "neg", "a"), node("part", "shrink", "y", shape=(2,), arg=((0, 2),)),
        node("target", "shrink", "a", shape=(2,), arg=((1, 3),)), node("w", "assign", "target", "part", shape=(2,)),
        alu("z", "add", "a", "y"),
    )  # fmt: skip
    content = from_array(np.array([1, 2, 3, 4], np.float32))
    rounds = (Round(until=2, asked=("y",)), Round(until=6, asked=("z", "y"), read=("a",)))
    return GraphCase(graph=graph(*nodes, results=["z"]), buffers={"a": content}, rounds=rounds)


@pytest.mark.slow
def test_rounds_are_compiled_one_after_the_other_and_storages_are_written_in_place() -> None:
    found = TorchCompile().run_graph(written_between())
    assert {key: array.tolist() for key, array in found.items()} == {
        "0/y": [-1, -2, -3, -4], "1/z": [0, -3, -5, 0], "1/y": [-1, -2, -3, -4], "1/buffer/a": [1, -1, -2, 4],
    }  # fmt: skip


@pytest.mark.slow
def test_drawn_graphs_compile_to_the_values_of_eager_evaluation() -> None:
    backend = TorchCompile()
    # Those of the first twelve that it claims, legal and short.
    for number in (0, 7, 8):
        case, _ = numbered(GRAPHS, 0, number)
        assert judge_graph(graph_meaning(case), backend.graph(case), CLAUSES, STANDARD).outcome == "passed"


@pytest.mark.slow
def test_a_sum_of_16_bits_is_compared_unrounded_as_is_declared() -> None:
    half = {"dtype": "bfloat16"}
    nodes = (
        stored("a", **half), stored("b", **half), alu("s", "add", "a", "b", **half),
        alu("x", "ne", "s", "a", dtype="bool"),
    )  # fmt: skip
    content = {name: from_array(np.full(4, value, NUMPY["bfloat16"])) for name, value in (("a", 59904), ("b", 1))}
    case = GraphCase(graph=graph(*nodes, results=["x"]), buffers=content, rounds=(Round(until=4, asked=("x",)),))
    backend = TorchCompile()
    seen = backend.graph(case)
    assert judge_graph(graph_meaning(case), seen, CLAUSES, STANDARD).outcome == "failed"
    assert judge_graph(graph_meaning(case), seen, CLAUSES, number_model(backend.number_model)).outcome == "passed"


def test_of_long_graphs_nothing_is_claimed() -> None:
    assert TorchCompile().claims["graph"]["size"] == ["small"]
