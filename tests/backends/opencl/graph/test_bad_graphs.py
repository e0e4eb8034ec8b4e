"""Graphs that cannot run are refused by node and reason before anything of them does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

from conformance.backends.base import Refused
from conformance.backends.opencl.runtime import capacity, kernels
from conformance.bench.graphs.tensors import GraphListing
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node, Variable
from conformance.cases.tensor.tensor import from_array
from tests.backends.opencl.conftest import OpenBackend

ON: dict[str, Any] = {"dtype": "float32", "device": "d0"}
X = Node(id="x", op="buf", shape=(4,), arg="x", **ON)
Y = Node(id="y", op="buf", shape=(4,), arg="y", dtype="float32", device="d1")
ONE = Node(id="one", op="const", shape=(4,), arg=from_array(np.float32(1)), **ON)
FOUR = Node(id="four", op="reshape", of=("x",), shape=(4, 1), **ON)
WIDE = Node(id="wide", op="expand", of=("four",), shape=(4, 2), **ON)


def _sum(name: str, *of: str) -> Node:
    return Node(id=name, op="alu", of=of, shape=(4,), arg="add", **ON)


def _said(opencl: OpenBackend, nodes: tuple[Node, ...], **more: Any) -> str:
    name = nodes[-1].id
    content = {"x": from_array(np.zeros(4, np.float32)), "y": from_array(np.zeros(4, np.float32))}
    asked = {"rounds": (Round(until=len(nodes), asked=(name,)),)} | more
    graph = Graph(nodes=nodes, results=(name,), variables=asked.pop("variables", {}))
    buffers = {str(node.arg): content[str(node.arg)] for node in nodes if node.op == "buf"}
    (error,) = opencl().graph(GraphCase(graph=graph, buffers=buffers, **asked)).errors
    assert error is not None
    assert error.category == "invalid_argument"
    return error.message


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ((X, _sum("a", "b", "x"), _sum("b", "a", "x")), "node 'a': it and its source 'b' need each other"),
        ((X, ONE, Node(id="a", op="assign", of=("one", "x"), shape=(4,), **ON)), "node 'a': the target 'one'"),
        ((X, FOUR, WIDE, Node(id="a", op="assign", of=("wide", "wide"), shape=(4, 2), **ON)), "an expanded view"),
        ((X, Y, _sum("a", "x", "y")), "node 'a': its operands are on d0, d1; they must be on one device"),
        ((X, _sum("a", "x", "nowhere")), "node 'a': source 'nowhere' is no node"),
        ((X, Node(id="a", op="reshape", of=("x",), shape=(5,), **ON)), "node 'a': its shape is [5]"),
    ],
)
def test_a_graph_that_means_nothing_is_refused_by_node_and_reason(
    nodes: tuple[Node, ...], said: str, opencl: OpenBackend
) -> None:
    assert said in _said(opencl, nodes)


BEYOND = Node(id="a", op="reduce", of=("x",), shape=(), arg=(9,), fold="add", **ON)
TURNED = Node(id="a", op="permute", of=("wide",), shape=(4, 2), arg=(1, 0), **ON)


@pytest.mark.parametrize("nodes", [(X, BEYOND), (X, FOUR, WIDE, TURNED)])
def test_what_means_nothing_has_no_schedule_and_no_explanation(nodes: tuple[Node, ...], opencl: OpenBackend) -> None:
    backend, graph = opencl(), Graph(nodes=nodes, results=("a",))
    rounds = (Round(until=len(nodes), asked=("a",)),)
    case = GraphCase(graph=graph, buffers={"x": from_array(np.zeros(4, np.float32))}, rounds=rounds)
    for ask in (lambda: backend.explain(case), lambda: backend.schedule(graph), lambda: backend.remaining(graph)):
        with pytest.raises(Refused, match="node 'a': its shape is"):
            ask()


def test_two_values_for_one_variable_are_refused(opencl: OpenBackend) -> None:
    some = Node(id="some", op="shrink", of=("x",), shape=("n",), arg=((0, "n"),), **ON)
    more = Node(id="more", op="alu", of=("some", "some"), shape=("n",), arg="add", **ON)
    rounds = (Round(until=2, values={"n": 2}), Round(until=3, values={"n": 3}, asked=("more",)))
    variables = {"n": Variable(low=1, high=4, value=2)}
    assert "'n' has two values" in _said(opencl, (X, some, more), rounds=rounds, variables=variables)


def _filled(listing: GraphListing, made: Any) -> GraphCase:
    return msgspec.structs.replace(listing.case((made,)), buffers={"b0": from_array(np.zeros(4, np.float32))})


@pytest.mark.parametrize(("limit", "said"), [("max_mem_alloc_size", "a buffer of"), ("global_mem_size", "more memory")])
def test_a_graph_too_large_for_the_memory_is_refused(
    limit: str, said: str, opencl: OpenBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"max_mem_alloc_size": 1 << 20, "global_mem_size": 1 << 20, "name": "small", "int_ptr": 1, limit: 24}
    queues = [SimpleNamespace(device=SimpleNamespace(**found))]
    check = capacity.check_fits
    small: Any = SimpleNamespace(queues=queues, queue_of=lambda device: 0)
    monkeypatch.setattr(
        "conformance.backends.opencl.runtime.prepared.check_fits", lambda dry_run, _: check(dry_run, small)
    )
    listing = GraphListing()
    taken = listing.buffer(4)
    made = (taken * 2).reshape(1, 4).expand(2, 4) + 1
    with pytest.raises(capacity.TooLargeError, match=said):
        opencl().graphs.run(_filled(listing, made))


def test_one_operation_on_more_buffers_than_a_kernel_may_have_is_refused(opencl: OpenBackend) -> None:
    listing = GraphListing()
    made = (listing.buffer(4) + listing.buffer(4)) * (listing.buffer(4) + listing.buffer(4))
    zeros = from_array(np.zeros(4, np.float32))
    case = msgspec.structs.replace(listing.case((made,)), buffers={f"b{number}": zeros for number in range(4)})
    assert not opencl(most_buffers=3).graph(case).errors
    (error,) = opencl(most_buffers=2).graph(case).errors
    assert error is not None
    assert error.category == "invalid_argument"
    assert "takes 3 buffers, of which one may have 2" in error.message
    assert error.message.startswith("node ")


def test_a_kernel_that_does_not_build_is_named(opencl: OpenBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "BEFORE", "")
    listing = GraphListing()
    made = listing.buffer(4).alu("exp2").alu("exp2")
    (error,) = opencl().graph(_filled(listing, made)).errors
    assert error is not None
    assert (error.kind, error.message.partition(" does not")[0]) == (
        "BuildError",
        f"the kernel of 'n1', {made.node.id!r}",
    )
