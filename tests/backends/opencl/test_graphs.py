"""Graphs on the devices: every value and every buffer is what eager evaluation makes of them."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from conformance.backends.opencl.export.graph import asked_once
from conformance.backends.opencl.runtime.rounds import run
from conformance.cases.graph.case import GraphCase, asked_key, declared, read_key
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.reference.schedule.data import initial
from conformance.reference.schedule.execute import differs, eager, worth
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.rounding import BESIDE, UNKNOWN
from conformance.runner.draws import numbered
from conformance.specs.schedules import judge
from conformance.specs.schedules.domain.graphs import graphs
from tests.backends.opencl.conftest import OpenBackend

OPEN = np.uint8(UNKNOWN | BESIDE)


def _filled(graph: Graph, seed: int) -> tuple[GraphCase, Facts]:
    case = asked_once(graph)
    case = msgspec.structs.replace(case, rounds=(msgspec.structs.replace(case.rounds[0], read=tuple(case.buffers)),))
    facts = Facts(declared(case))
    memory = initial(facts, seed)
    buffers = {
        name: Tensor(dtype=each.dtype, shape=each.shape, bits=memory.storages[name].tobytes().hex())
        for name, each in case.buffers.items()
    }
    return msgspec.structs.replace(case, buffers=buffers), facts


@pytest.mark.parametrize("number", range(12))
def test_a_drawn_graph_has_the_values_of_eager_evaluation(number: int, opencl: OpenBackend) -> None:
    graph, _ = numbered(graphs(), 3, number)
    case, facts = _filled(graph, 4)
    right, found = eager(facts, 4), run(case, opencl().engine)
    for name in graph.results:
        wanted, mask = worth(right.meanings[name], right.memory), right.mask(name)
        open_here = None if mask is None else (mask & OPEN) > 0
        seen = to_array(found[asked_key(0, name)])
        assert differs(seen.reshape(-1), wanted.reshape(-1), None, open_here) is None
    for name in set(case.buffers) - set(right.rounded):
        seen = to_array(found[read_key(0, name)]).reshape(-1)
        assert differs(seen, right.memory.array(name)) is None


@pytest.mark.parametrize("number", range(8))
def test_the_schedule_of_a_drawn_graph_breaks_no_must(number: int, opencl: OpenBackend) -> None:
    graph, _ = numbered(graphs(), 5, number)
    assert [each for each in judge(opencl().schedule(graph)) if each.finding == "broken"] == []


def test_a_chain_of_elementwise_operations_is_one_kernel(opencl: OpenBackend) -> None:
    nodes = [Node(id="n0", op="buf", shape=(8,), dtype="float32", device="d", arg="x")]
    for number in range(1, 11):
        of = (f"n{number - 1}", f"n{number - 1}")
        nodes.append(Node(id=f"n{number}", op="alu", of=of, shape=(8,), dtype="float32", device="d", arg="add"))
    found = opencl().schedule(Graph(nodes=tuple(nodes), results=("n10",)))
    assert len(found.items) == 1
