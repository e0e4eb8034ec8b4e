"""Graphs whose buffers and results lie in one storage of each device have the values of those in which none do."""

from __future__ import annotations

import numpy as np

from conformance.backends.opencl.typed.graph_builder import Building
from conformance.cases.graph.case import asked_key
from conformance.cases.graph.validate import validate_graph
from conformance.cases.tensor.tensor import to_array
from conformance.generate.domains import GRAPHS
from conformance.runner.draws import numbered
from tests.backends.opencl.conftest import OpenBackend


def test_drawn_graphs_have_the_same_values(opencl: OpenBackend) -> None:
    graphs, several = opencl().graphs, 0
    for number in range(150):
        case, _ = numbered(GRAPHS, 4, number)
        if len(case.rounds) > 1 or case.rounds[0].read or case.rounds[0].writes or validate_graph(case):
            continue
        wanted = graphs.arrays(case)
        content = {name: to_array(each) for name, each in case.buffers.items()}
        ready = graphs.prepared(case, together=True)
        for _ in range(2):
            found = graphs.again(ready, content)
            for name, array in found.items():
                assert array.tobytes() == wanted[asked_key(0, name)].tobytes()
        several += any(len(each.buffers) > 1 for each in ready.rounds[0].inputs)
    assert several > 5


def test_what_goes_in_may_come_out_and_hold_nothing(opencl: OpenBackend) -> None:
    building = Building()
    blocks = [np.arange(6, dtype=np.int8).reshape(2, 3) + rank for rank in range(3)]
    x, empty = building.put(blocks), building.put([np.zeros((0, 2), np.float32)] * 3)
    z = building.put([np.full(5, rank, np.complex64) for rank in range(3)])
    case = building.case({"x": x, "empty": empty, "y": building.moved("permute", x, (3, 2), (1, 0)), "z": z})
    graphs = opencl().graphs
    found = graphs.again(
        graphs.prepared(case, together=True), {name: to_array(each) for name, each in case.buffers.items()}
    )
    wanted = graphs.arrays(case)
    assert {name: array.tobytes() for name, array in found.items()} == {
        name: wanted[asked_key(0, name)].tobytes() for name in case.graph.results
    }
