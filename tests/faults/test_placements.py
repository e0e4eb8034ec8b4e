from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.lowering import lowered
from conformance.backends.reference import Reference
from conformance.cases.case_error import CaseError
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node, Variable
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement
from conformance.cases.tensor.tensor import from_array
from conformance.judging.sharded.subject import sharded_meaning
from tests.faults.fault import Fault
from tests.faults.placements import ACROSS, MESH, TABLE, rows

HALVES = rows(0, 2, 4)


def node(id: str, op: str, *of: str, shape: tuple[Any, ...] = (4, 3), **rest: Any) -> Node:
    return Node(id=id, op=op, of=of, shape=shape, dtype="float32", device="d0", **rest)


def case(at: Placement, *steps: Node, **rest: Any) -> ShardedCase:
    """Return a program on a buffer of four rows of three, placed somewhere."""
    nodes = (node("a", "buf", arg="a"), *(steps or (node("b", "contig", "a"),)))
    graph = Graph(nodes=nodes, results=(nodes[-1].id,), variables=rest.pop("variables", {}))
    data = from_array(np.zeros((4, 3), np.float32))
    only = Round(until=len(nodes), asked=graph.results, values=dict.fromkeys(graph.variables, 2))
    of = GraphCase(graph=graph, buffers={"a": data}, rounds=(only,))
    return ShardedCase(mesh=MESH, devices=rest.pop("devices", (0, 1, 2, 3)), of=of, homes={"a": at}, **rest)


def unfit(fault: Fault) -> ShardedCase:
    kind = fault.data[0]
    if isinstance(kind, Placement):
        return case(kind)
    if kind == "scalar":
        return case(
            HALVES, node("s", "reduce", "a", shape=(), arg=(0, 1), fold="add"), node("c", "copy", "s", shape=()),
            moves={"c": HALVES},
        )  # fmt: skip
    if kind == "device":
        return case(HALVES, devices=(0, 0, 2, 3))
    if kind == "variable":
        step = node("b", "shrink", "a", shape=("n", 3), arg=((0, "n"), (0, 3)))
        return case(HALVES, step, variables={"n": Variable(low=1, high=4, value=2)})
    return case(HALVES, node("b", "shrink", "a", shape=(5, 3), arg=((0, 5), (0, 3))))


@pytest.mark.parametrize("fault", TABLE.faults, ids=[fault.done for fault in TABLE.faults])
def test_a_placement_that_does_not_fit(fault: Fault) -> None:
    says, asked = fault.seen.strip("*"), unfit(fault)
    assert says in str(sharded_meaning(asked).rejected)
    seen = Reference().sharded(asked)
    messages = [error.message for error in seen.errors if error is not None]
    assert (len(messages), len(set(messages)), says in messages[0]) == (4, 1, True)
    with pytest.raises(ValueError, match=re.escape(says)):
        lowered(asked)


def test_operands_on_other_devices_are_no_case() -> None:
    asked = case(HALVES, replace(node("b", "contig", "a"), device="d1"))
    for refusing in (sharded_meaning, lowered):
        with pytest.raises(CaseError, match="it is on d1, its source 'a' on d0"):
            refusing(asked)
    seen = Reference().sharded(asked)
    assert all(error is not None and "it is on d1, its source 'a' on d0" in error.message for error in seen.errors)


STEPS = {
    "reshape": (node("b", "reshape", "a", shape=(2, 6)),),
    "shrink": (node("b", "shrink", "a", shape=(2, 3), arg=((1, 3), (0, 3))),),
    "pad": (node("b", "pad", "a", shape=(5, 3), arg=((0, 1), (0, 0))),),
    "flip": (node("b", "flip", "a", arg=(0,)),),
    "stride": (node("b", "stride", "a", shape=(2, 3), arg=(2, 1)),),
    "disjoint": (
        node("one", "shrink", "a", shape=(2, 3), arg=((0, 2), (0, 3))),
        node("two", "shrink", "a", shape=(2, 3), arg=((2, 4), (0, 3))),
        node("b", "alu", "one", "two", shape=(2, 3), arg="add"),
    ),
}


@pytest.mark.parametrize("fault", ACROSS.faults, ids=[fault.done for fault in ACROSS.faults])
def test_a_step_across_parts(fault: Fault) -> None:
    # In (2, 6) a part of one row of three is half of an element of the split axis.
    at = rows(0, 1, 4) if fault.data[0] == "reshape" else HALVES
    asked = case(at, *STEPS[fault.data[0]])
    assert fault.seen.strip("*") in sharded_meaning(asked).refusable
    assert lowered(asked)[1]
