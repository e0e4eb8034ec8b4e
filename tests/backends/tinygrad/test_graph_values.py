"""Graphs on tinygrad."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from conformance.backends.tinygrad import TinyGrad
from conformance.backends.tinygrad.device import compiler
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Variable
from conformance.cases.schedule.builders import alu, graph, node, stored
from conformance.cases.tensor.tensor import from_array
from conformance.judging.graphs.subject import graph_meaning
from conformance.judging.graphs.verdict import judge_graph
from conformance.specs.graphs import CLAUSES


@pytest.mark.parametrize("op", ["contig", "copy", "cast", "bitcast"])
def test_what_is_computed_of_a_buffer_keeps_its_value(tinygrad: TinyGrad, op: str) -> None:
    nodes = (stored("a"), node("kept", op, "a"), alu("neg", "neg", "a"), node("b", "assign", "a", "neg"))
    case = GraphCase(
        graph=graph(*nodes, results=["kept", "b"]),
        buffers={"a": from_array(np.arange(1, 5, dtype=np.float32))},
        rounds=(Round(until=4, asked=("kept", "b")),),
    )
    assert judge_graph(graph_meaning(case), tinygrad.graph(case), CLAUSES, STANDARD).outcome == "passed"


def test_an_extent_is_computed_of_a_variable(tinygrad: TinyGrad) -> None:
    begun = node("begun", "shrink", "a", shape=("n + 1",), arg=((0, "n + 1"),))
    nodes = (stored("a"), begun, alu("neg", "neg", "begun", shape=("n + 1",)))
    case = GraphCase(
        graph=graph(*nodes, results=["neg"], variables={"n": Variable(low=1, high=3, value=2)}),
        buffers={"a": from_array(np.arange(1, 5, dtype=np.float32))},
        rounds=(Round(until=3, asked=("neg",)),),
    )
    assert judge_graph(graph_meaning(case), tinygrad.graph(case), CLAUSES, STANDARD).outcome == "passed"


def test_a_buffer_shows_what_is_assigned_to_a_part_of_it(tinygrad: TinyGrad) -> None:
    part = node("part", "shrink", "a", shape=(1, 2), arg=((1, 2), (0, 2)))
    new = alu("new", "neg", "part", shape=(1, 2))
    nodes = (stored("a", shape=(2, 3)), part, new, node("b", "assign", "part", "new", shape=(1, 2)))
    case = GraphCase(
        graph=graph(*nodes, results=["a"]),
        buffers={"a": from_array(np.arange(1, 7, dtype=np.float32).reshape(2, 3))},
        rounds=(Round(until=4, asked=("a",)),),
    )
    assert judge_graph(graph_meaning(case), tinygrad.graph(case), CLAUSES, STANDARD).outcome == "passed"


def counted(extent: int) -> GraphCase:
    """Return a graph that tinygrad compiles on whatever device it runs."""
    return GraphCase(
        graph=graph(node("i", "iota", shape=(extent,), dtype="int8", arg=0), results=["i"]),
        buffers={},
        rounds=(Round(until=1, asked=("i",)),),
    )


@pytest.mark.skipif(shutil.which(compiler()) is None, reason="without clang tinygrad interprets kernels, but not this")
def test_numbers_that_a_dtype_lacks_are_counted(tinygrad: TinyGrad) -> None:
    case = counted(300)
    assert judge_graph(graph_meaning(case), tinygrad.graph(case), CLAUSES, STANDARD).outcome == "passed"


def test_a_compiler_that_is_not_there_is_the_adapters_error_and_no_refusal(
    tinygrad: TinyGrad, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*args: object, **options: object) -> bytes:
        raise FileNotFoundError(2, "No such file or directory", compiler())

    monkeypatch.setattr("tinygrad.runtime.support.compiler_cpu.ClangCompiler.compile", missing)
    case = counted(301)
    judged = judge_graph(graph_meaning(case), tinygrad.graph(case), CLAUSES, STANDARD)
    assert judged.outcome == "adapter_error"
    assert "NoCompilerError: tinygrad compiles this by" in str(judged.detail)
