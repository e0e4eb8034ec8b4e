"""A kernel that is built serves every value of a variable: its extents and constants are arguments."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.opencl.runtime import kernels
from conformance.backends.opencl.runtime.program_cache import FOLDER, OFF
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node, Variable
from conformance.cases.tensor.tensor import from_array, to_array
from tests.backends.opencl.conftest import OpenBackend

DATA = np.arange(240, dtype=np.float32).reshape(40, 6)
KIND = {"dtype": "float32", "device": "d0"}


def case(count: int) -> GraphCase:
    """Return the first ``count`` rows times ``count``, and the sum of these rows."""
    nodes = (
        Node(id="x", op="buf", shape=(40, 6), arg="x", **KIND),
        Node(id="rows", op="shrink", of=("x",), shape=("n", 6), arg=((0, "n"), (0, 6)), **KIND),
        Node(id="n", op="var", shape=(), arg="n", dtype="int32", device="d0"),
        Node(id="f", op="cast", of=("n",), shape=(), **KIND),
        Node(id="one", op="reshape", of=("f",), shape=(1, 1), **KIND),
        Node(id="wide", op="expand", of=("one",), shape=("n", 6), **KIND),
        Node(id="scaled", op="alu", of=("rows", "wide"), shape=("n", 6), arg="mul", **KIND),
        Node(id="sum", op="reduce", of=("scaled",), shape=(6,), arg=(0,), fold="add", **KIND),
    )
    graph = Graph(nodes=nodes, results=("scaled", "sum"), variables={"n": Variable(low=1, high=40, value=count)})
    once = Round(until=len(nodes), values={"n": count}, asked=("scaled", "sum"), read=())
    return GraphCase(graph=graph, buffers={"x": from_array(DATA)}, rounds=(once,))


def test_values_of_a_variable_share_what_was_built(opencl: OpenBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, OFF)
    built: list[str] = []
    own = kernels._built
    backend = opencl()
    _ = backend.graphs
    monkeypatch.setattr(kernels, "_built", lambda *asked: built.append(asked[1]) or own(*asked))
    for count in (3, 4, 7, 20, 39):
        found = backend.graph(case(count))
        assert not found.errors
        scaled, total = (to_array(found.results[key][0]) for key in ("0/scaled", "0/sum"))
        assert scaled.tolist() == (DATA[:count] * count).tolist()
        assert total.tolist() == (DATA[:count] * count).sum(axis=0).tolist()
    assert len(built) <= 1
