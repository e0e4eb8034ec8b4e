"""What the exported schedule says of variables, of events, of indices that are data, and of what is left to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.export.symbolic import Unlike, fitted, written
from conformance.cases.graph.graph import Graph, Variable
from conformance.cases.schedule.builders import alu, constant, graph, node, stored
from conformance.cases.schedule.kernel_body import Fetch
from conformance.cases.schedule.schedule import Binding, Copy, Kernel, Wait


def narrowed(value: int) -> Graph:
    part = node("s", "shrink", "a", shape=("n",), arg=((0, "n"),))
    nodes = stored("a", (6,)), part, alu("r", "neg", "s", shape=("n",))
    return graph(*nodes, results=["r"], variables={"n": Variable(low=1, high=6, value=value)})


def test_a_kernel_is_told_the_value_of_a_variable(opencl: Callable[..., OpenCL]) -> None:
    four, five = (opencl().schedule(narrowed(value)).items[0] for value in (4, 5))
    assert isinstance(four, Kernel)
    assert isinstance(five, Kernel)
    assert four.variables == (Binding("n", 4),)
    assert five.variables == (Binding("n", 5),)
    assert four.bodies == five.bodies
    assert four.program == five.program
    assert four.bodies[0].extents == ("n",)


def test_numbers_at_two_values_of_each_variable_are_a_sum_of_products() -> None:
    ends = [("n", 2, 5), ("m", 3, 7)]
    found = fitted([3 * n * m - m + 10 for n in (2, 5) for m in (3, 7)], ends)
    assert found == {("n", "m"): 3, ("m",): -1, (): 10}
    assert written(found) == "n * m * 3 + 10 - m"
    with pytest.raises(Unlike):
        fitted([1, 2], [("n", 2, 4)])


def test_another_queue_waits_for_an_event(opencl: Callable[..., OpenCL]) -> None:
    moved, last = node("c", "copy", "b", device="d1"), alu("r", "neg", "c", device="d1")
    nodes = stored("a"), alu("b", "neg", "a"), moved, last
    items = opencl().schedule(graph(*nodes, results=["r"])).items
    waits = [each.handle for each in items if isinstance(each, Wait)]
    assert waits
    assert {each.handle for each in items if isinstance(each, Kernel | Copy) and each.handle} == {*waits}
    assert any(name.startswith("wait") for each in items for name in each.after or ())


def test_what_data_choose_is_fetched(opencl: Callable[..., OpenCL]) -> None:
    nodes = stored("a"), stored("i", dtype="int32"), node("r", "gather", "a", "i", arg=0)
    (only,) = opencl().schedule(graph(*nodes, results=["r"])).items
    assert isinstance(only, Kernel)
    assert any(isinstance(each, Fetch) for each in only.bodies[0].instructions)


def test_nothing_is_left_of_a_graph_that_has_run(opencl: Callable[..., OpenCL]) -> None:
    padded = node("p", "pad", "a", shape=(6,), arg=((1, 1),))
    made = opencl().remaining(graph(stored("a"), padded, alu("r", "neg", "a"), results=["p", "r"]))
    assert made.items == ()
    assert {each.node for each in made.places} == {"p", "r"}


def test_storage_that_is_kept_beside_what_is_computed_of_it_is_read_after_its_assign(
    opencl: Callable[..., OpenCL],
) -> None:
    nodes = stored("a"), stored("b"), node("w", "assign", "b", "a"), node("k", "contig", "w"), alu("r", "neg", "k")
    asked = graph(*nodes, node("s", "reshape", "k", shape=(2, 2)), results=["s", "r"])
    assert {each.node for each in opencl().remaining(asked).places} == {"s", "r"}


def test_a_copy_that_has_been_made_takes_nothing_again(opencl: Callable[..., OpenCL]) -> None:
    there = node("c", "copy", "r", device="d1")
    turned = node("f", "flip", "c", arg=(0,), device="d1")
    back = node("b", "copy", "f")
    made = opencl().remaining(graph(stored("a"), alu("r", "neg", "a"), there, turned, back, results=["f", "b"]))
    assert made.items == ()
    assert {each.node for each in made.places} == {"f", "b"}


def test_no_event_is_told_that_a_barrier_alone_waits_for(opencl: Callable[..., OpenCL], make_program: Any) -> None:
    steps = [("barrier", (), (), {"groups": ((0, 1), (2, 3))}), ("all_reduce", ("x",), ("y",), {"op": "sum"})]
    blocks = [np.zeros((), np.int32)] * 4
    case = make_program({"i": 2, "j": 2}, {"x": blocks, "z": blocks}, steps, ("y", "z"))
    items = opencl().schedule(case).items
    started = {each.handle for each in items if isinstance(each, Kernel | Copy) and each.handle}
    assert started == {each.handle for each in items if isinstance(each, Wait)}


def test_c4_no_kernel_is_told_as_movement_that_moves_nothing(opencl: Callable[..., OpenCL]) -> None:
    turned, kept = node("p", "permute", "a", shape=(3, 2), arg=(1, 0)), node("c", "copy", "p", shape=(3, 2))
    still, taken = node("q", "permute", "c", shape=(3, 2), arg=(0, 1)), alu("z", "neg", "q", shape=(3, 2))
    written = constant("0", 0, shape=(2, 3)), node("w", "assign", "a", "0", shape=(2, 3))
    made = opencl().schedule(graph(stored("a", (2, 3)), turned, kept, still, taken, *written, results=["c", "z", "w"]))
    assert [each.provenance for each in made.items if isinstance(each, Kernel)] == [(), ("z",), ("w",)]
