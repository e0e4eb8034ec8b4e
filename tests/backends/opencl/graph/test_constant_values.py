"""What constants alone make takes no kernel, though a pad makes it of different elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.export.graph import as_case
from conformance.backends.opencl.graph.constant_values import LARGEST
from conformance.backends.reference import Reference
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.tensor.tensor import from_array
from tests.backends.opencl.conftest import OpenBackend


def node(id: str, op: Any, *of: str, shape: tuple[int, ...] = (5,), dtype: str = "float32", **rest: Any) -> Node:
    return Node(id=id, op=op, of=of, shape=shape, dtype=dtype, device="d0", **rest)


def const(id: str, value: float, *shape: int, dtype: str = "float32") -> Node:
    return node(id, "const", shape=shape, dtype=dtype, arg=from_array(np.asarray(value).astype(dtype)))


PADDED = (const("c", 2.5, 3), node("p", "pad", "c", arg=((1, 1),)))
MADE = {
    "a pad": (*PADDED, node("y", "detach", "p")),
    "a sum": (*PADDED, const("d", -0.75, 5), node("y", "alu", "p", "d", arg="add")),
    "two pads": (*PADDED, const("d", 3, 2), node("q", "pad", "d", arg=((3, 0),)),
                 node("y", "alu", "p", "q", arg="sub")),
    "turned": (*PADDED, node("s", "shrink", "p", shape=(3,), arg=((0, 3),)),
               node("y", "flip", "s", shape=(3,), arg=(0,))),
    "converted": (*PADDED, node("y", "cast", "p", dtype="int8")),
    "bits": (*PADDED, node("y", "bitcast", "p", dtype="int32")),
    "padded again": (*PADDED, node("n", "alu", "p", "p", arg="eq", dtype="bool"),
                     node("y", "pad", "n", shape=(8,), dtype="bool", arg=((1, 2),))),
}  # fmt: skip


@pytest.mark.parametrize("what", MADE)
def test_c1_constants_and_pads_of_them_take_no_kernel(what: str, opencl: OpenBackend) -> None:
    graph = Graph(nodes=MADE[what], results=("y",))
    backend, case = opencl(), as_case(graph)
    assert backend.schedule(graph).items == ()
    assert backend.graph(case).results == Reference().graph(case).results


def test_what_a_kernel_reads_of_such_a_value_is_computed_there(opencl: OpenBackend) -> None:
    nodes = (*PADDED, node("b", "buf", arg="b"), node("y", "alu", "b", "p", arg="add"))
    made = opencl().schedule(Graph(nodes=nodes, results=("p", "y")))
    assert [[each.node for each in item.accesses if each.write] for item in made.items] == [["y"]]


def test_more_elements_than_are_made_beside_the_devices_are_computed_by_one(opencl: OpenBackend) -> None:
    size = LARGEST + 1
    nodes = (const("c", 7, size - 3), node("y", "pad", "c", shape=(size,), arg=((1, 2),)))
    graph = Graph(nodes=nodes, results=("y",))
    backend, case = opencl(), as_case(graph)
    assert len(backend.schedule(graph).items) == 1
    assert backend.graph(case).results == Reference().graph(case).results
