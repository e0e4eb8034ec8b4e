"""Each adapter of a framework with sharded tensors runs a program on them, and says where its parts are."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.claim_limits import outside
from conformance.backends.discovery import find
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.observation import Observation
from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement, Split
from conformance.cases.tensor.tensor import from_array
from conformance.judging.sharded.subject import sharded_meaning
from conformance.judging.sharded.verdict import judge_sharded
from conformance.runner.dialects.sharded import clauses, facts
from conformance.runner.worker.workers import Worker

ROWS, COLUMNS = (Placement(splits=(Split(axis=axis, along=("i",), cuts=(0, 2, 4)),)) for axis in (0, 1))


def node(id: str, op: str, *of: str, shape: tuple[int, ...] = (4, 4), **rest: object) -> Node:
    return Node(id=id, op=op, of=of, shape=shape, dtype="float32", device="d0", **rest)  # type: ignore[arg-type]


def case() -> ShardedCase:
    """Return the sum of two tensors that are split otherwise, its sum of rows, and one of them split as the other."""
    nodes = (
        node("a", "buf", arg="a"),
        node("b", "buf", arg="b"),
        node("c", "alu", "a", "b", arg="add"),
        node("s", "reduce", "c", shape=(4,), arg=(0,), fold="add"),
        node("m", "copy", "b"),
    )
    data = from_array(np.arange(16, dtype=np.float32).reshape(4, 4) - 7)
    asked = ("c", "s", "m")
    of = GraphCase(
        graph=Graph(nodes=nodes, results=asked), buffers={"a": data, "b": data}, rounds=(Round(until=5, asked=asked),)
    )
    homes = {"a": ROWS, "b": COLUMNS}
    return ShardedCase(mesh=(Axis("i", 2),), devices=(0, 1), of=of, homes=homes, moves={"m": ROWS})


@pytest.mark.slow  # torch is imported afresh in two processes
def test_what_was_asked_of_storage_shows_nothing_that_is_written_later() -> None:
    pytest.importorskip("torch")
    old, new = (from_array(np.arange(16, dtype=np.float32).reshape(4, 4) + more) for more in (0, 50))
    rounds = (Round(until=1, asked=("a",)), Round(until=1, writes={"a": new}, asked=("a",)))
    of = GraphCase(graph=Graph(nodes=(node("a", "buf", arg="a"),), results=("a",)), buffers={"a": old}, rounds=rounds)
    two = ShardedCase(mesh=(Axis("i", 2),), devices=(0, 1), of=of, homes={"a": ROWS})
    with Worker(find("torch")) as worker:
        said = worker.ready.terms
        seen = worker.ask(two).result
    assert isinstance(seen, Observation), seen
    verdict = judge_sharded(sharded_meaning(two), seen, clauses("sharded", said), said.numbers)
    assert (verdict.outcome, verdict.detail) == ("passed", None)


@pytest.mark.slow  # tinygrad is imported afresh
def test_tinygrad_has_the_parts_of_a_view_that_each_have_one_row() -> None:
    pytest.importorskip("tinygrad")
    nodes = (node("a", "buf", shape=(4, 2), arg="a"), node("t", "permute", "a", shape=(2, 4), arg=(1, 0)))
    of = GraphCase(
        graph=Graph(nodes=nodes, results=("t",)),
        buffers={"a": from_array(np.arange(8, dtype=np.float32).reshape(4, 2))},
        rounds=(Round(until=2, asked=("t",)),),
    )
    each = Placement(splits=(Split(axis=0, along=("i",), cuts=(0, 1, 2, 3, 4)),))
    four = ShardedCase(mesh=(Axis("i", 4),), devices=(0, 1, 2, 3), of=of, homes={"a": each})
    with Worker(find("tinygrad")) as worker:
        said = worker.ready.terms
        seen = worker.ask(four).result
    assert isinstance(seen, Observation), seen
    verdict = judge_sharded(sharded_meaning(four), seen, clauses("sharded", said), said.numbers)
    assert (verdict.clauses["sharded.C4"], verdict.clauses["sharded.C26"]) == ("held", "held")


@pytest.mark.slow  # each framework is imported afresh: 5 to 20 s
@pytest.mark.parametrize("name", ["jax", "torch", "tinygrad"])
def test_a_program_on_two_splits_passes(name: str) -> None:
    pytest.importorskip(name)
    subject = sharded_meaning(case())
    with Worker(find(name)) as worker:
        said = worker.ready.terms
        assert outside(worker.ready.claims, facts(subject).features) is None
        seen = worker.ask(case()).result
    assert isinstance(seen, Observation), seen
    verdict = judge_sharded(subject, seen, clauses("sharded", said), said.numbers)
    # tinygrad says of no sharded tensor that it is realized: that is a finding, and no must.
    assert verdict.blame is None or (name, verdict.blame.id) == ("tinygrad", "sharded.C45"), verdict.detail


@pytest.mark.slow  # JAX is imported afresh: 5 s
def test_explicit_axes_take_alike_operands_and_give_what_was_asked_for() -> None:
    pytest.importorskip("jax")
    nodes = (
        node("a", "buf", arg="a"),
        node("c", "alu", "a", "a", arg="add"),
        node("s", "reduce", "c", shape=(4,), arg=(0,), fold="add"),
        node("m", "copy", "c"),
    )
    asked = ("c", "s", "m")
    of = GraphCase(
        graph=Graph(nodes=nodes, results=asked),
        buffers={"a": case().of.buffers["a"]},
        rounds=(Round(until=4, asked=asked),),
    )
    whole = ShardedCase(mesh=(Axis("i", 2),), devices=(0, 1), of=of, homes={"a": ROWS}, moves={"m": COLUMNS})
    alike, mixed = sharded_meaning(whole), sharded_meaning(case())
    with Worker(find("jax-explicit")) as worker:
        said = worker.ready.terms
        assert outside(worker.ready.claims, facts(alike).features) is None
        assert outside(worker.ready.claims, facts(mixed).features) is not None
        seen = worker.ask(alike.case).result
    assert isinstance(seen, Observation), seen
    verdict = judge_sharded(alike, seen, clauses("sharded", said), said.numbers)
    assert (verdict.outcome, verdict.detail) == ("passed", None)
