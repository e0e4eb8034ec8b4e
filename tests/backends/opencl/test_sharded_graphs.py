"""What sharded programs become is a graph that schedules can be asked of and judged by."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.backends.lowering import lowered
from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.dry_run import dry_rounds
from conformance.backends.opencl.schedule.item import Fused, Transfer
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.form import check_graph
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.program.program import Axis
from conformance.cases.schedule.schedule import declarations
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement, Split
from conformance.cases.sharded.validate import validate_sharded
from conformance.cases.tensor.tensor import from_array
from conformance.generate.domains import SHARDED
from conformance.runner.draws import numbered


def test_a_lowered_program_is_well_formed_for_schedules_whatever_its_dtypes() -> None:
    mixed, native = 0, OpenCL()
    for number in range(48):
        case, _ = numbered(SHARDED, 0, number)
        if validate_sharded(case):
            continue
        dtypes = {node.id: node.dtype for node in case.of.graph.nodes}
        pairs = ([dtypes[name] for name in node.of] for node in case.of.graph.nodes if node.op == "alu")
        mixed += any(len(set(each[-2:])) > 1 for each in pairs)
        graph = lowered(case)[0].graph
        check_graph(graph, declarations(native.schedule(graph)), graph.most)
    assert mixed > 1


def test_copies_and_kernels_that_need_nothing_of_each_other_wait_for_nothing_of_each_other() -> None:
    def node(name: str, op: Any, *of: str, **rest: Any) -> Node:
        return Node(id=name, op=op, of=of, shape=(6,), dtype="float32", device="d0", **rest)

    def by(*cuts: int) -> Placement:
        return Placement(splits=(Split(axis=0, along=("i",), cuts=cuts),))

    # One buffer is cut otherwise while another goes through two kernels a device.
    chain = (node("a", "alu", "b1", "b1", arg="add"), node("b", "contig", "a"), node("c", "alu", "b", "b", arg="mul"))
    nodes = (node("b0", "buf", arg="b0"), node("b1", "buf", arg="b1"), node("m", "copy", "b0"), *chain)
    data = {name: from_array(np.arange(6, dtype=np.float32)) for name in ("b0", "b1")}
    of = GraphCase(
        graph=Graph(nodes=nodes, results=("m", "c")), buffers=data, rounds=(Round(until=6, asked=("m", "c")),)
    )
    homes = {"b0": by(0, 1, 2, 6), "b1": by(0, 2, 4, 6)}
    case = ShardedCase(mesh=(Axis("i", 3),), devices=(0, 1, 2), of=of, homes=homes, moves={"m": by(0, 4, 5, 6)})
    native = OpenCL()
    (made,) = dry_rounds(lowered(case)[0], native.settings, 1)
    items = made.schedule.items
    before: list[set[int]] = []
    for item in items:
        before.append({*item.after, *(each for other in item.after for each in before[other])})
    transfers = {number for number, item in enumerate(items) if isinstance(item, Transfer)}
    moving = transfers | {number for number, earlier in enumerate(before) if earlier & transfers}
    chained = {number for number, item in enumerate(items) if isinstance(item, Fused)} - moving
    assert len(transfers) >= 2
    assert len(chained) >= 6
    assert not any(before[number] & chained for number in moving)
    assert not any(before[number] & moving for number in chained)
    # Each device has its own queue, so copies are under way before the last kernels of the chain are handed over.
    assert min(transfers) < max(chained)
    assert {items[number].device for number in chained} == {0, 1, 2}
