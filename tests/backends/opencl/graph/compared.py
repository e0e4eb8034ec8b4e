"""A graph run by the native engine beside its eager evaluation."""

from __future__ import annotations

import msgspec
import numpy as np

from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.export.graph import as_case
from conformance.cases.graph.case import GraphCase, asked_key, declared, read_key
from conformance.cases.graph.graph import Graph
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.tensor.tensor import Tensor, to_array
from conformance.reference.graph.rounding import BESIDE, UNKNOWN
from conformance.reference.schedule.comparison import differs
from conformance.reference.schedule.data import initial
from conformance.reference.schedule.eager import eager
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.graph import worth

OPEN = np.uint8(UNKNOWN | BESIDE)


def _filled(graph: Graph, seed: int) -> tuple[GraphCase, Facts]:
    case = as_case(graph)
    case = msgspec.structs.replace(case, rounds=(msgspec.structs.replace(case.rounds[0], read=tuple(case.buffers)),))
    of = declared(case)
    empty = Schedule(devices=of.devices, buffers=of.buffers, items=(), variables=of.variables, graph=case.graph)
    facts = Facts(empty)
    memory = initial(facts, seed)
    buffers = {
        name: Tensor(dtype=each.dtype, shape=each.shape, bits=memory.storages[name].tobytes().hex())
        for name, each in case.buffers.items()
    }
    return msgspec.structs.replace(case, buffers=buffers), facts


def compared(graph: Graph, backend: OpenCL) -> None:
    """Run a graph, and hold its results and buffers against eager evaluation."""
    case, facts = _filled(graph, 4)
    right, found = eager(facts, 4), backend.graphs.run(case)
    for name in graph.results:
        wanted, mask = worth(right.meanings[name], right.memory), right.mask(name)
        open_here = None if mask is None else (mask & OPEN) > 0
        seen = to_array(found[asked_key(0, name)])
        assert differs(seen.reshape(-1), wanted.reshape(-1), None, open_here) is None
    for name in set(case.buffers) - set(right.rounded):
        seen = to_array(found[read_key(0, name)]).reshape(-1)
        assert differs(seen, right.memory.array(name)) is None
