"""What sharded programs become is a graph that schedules can be asked of and judged by."""

from __future__ import annotations

from conformance.backends.lowering import lowered
from conformance.backends.opencl import OpenCL
from conformance.cases.graph.form import check_graph
from conformance.cases.sharded.validate import validate_sharded
from conformance.runner.draws import numbered
from conformance.specs.sharded.domain.cases import sharded_cases


def test_a_lowered_program_is_well_formed_for_schedules_whatever_its_dtypes() -> None:
    mixed, native = 0, OpenCL()
    for number in range(24):
        case, _ = numbered(sharded_cases(), 0, number)
        if validate_sharded(case):
            continue
        dtypes = {node.id: node.dtype for node in case.of.graph.nodes}
        pairs = ([dtypes[name] for name in node.of] for node in case.of.graph.nodes if node.op == "alu")
        mixed += any(len(set(each[-2:])) > 1 for each in pairs)
        graph = lowered(case)[0].graph
        check_graph(graph, native.schedule(graph), graph.most)
    assert mixed > 1
