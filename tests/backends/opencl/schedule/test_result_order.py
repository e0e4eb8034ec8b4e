"""Results that are asked for together: in which order changes no schedule, and each is stored once."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from conformance.backends.opencl import OpenCL
from conformance.cases.schedule.builders import alu, graph, node, stored
from conformance.runner.dialects.schedule import GRAPHS
from conformance.runner.draws import numbered


def test_c7_what_one_kernel_stores_comes_in_list_order(opencl: Callable[..., OpenCL]) -> None:
    low, high = (node(name, "pad", "a", shape=(8,), arg=((at, 4 - at),)) for name, at in (("p", 0), ("q", 2)))
    nodes = stored("a"), low, high
    one, other = (opencl().schedule(graph(*nodes, results=asked)) for asked in (["p", "q"], ["q", "p"]))
    assert len(one.items) == 1
    assert one.items == other.items


def test_c1_a_part_of_another_result_is_a_view_of_it(opencl: Callable[..., OpenCL]) -> None:
    part = node("p", "shrink", "b", shape=(2,), arg=((1, 3),))
    made = opencl().schedule(graph(stored("a"), alu("b", "neg", "a"), part, results=["p", "b"]))
    assert len(made.items) == 1
    assert len({each.buffer for each in made.places}) == 1


def test_c7_drawn_graphs_have_the_same_items_in_the_same_order(opencl: Callable[..., OpenCL]) -> None:
    native = opencl()
    drawn = (numbered(GRAPHS, 8, number)[0] for number in range(24))
    for each in (one for one in drawn if len(one.results) > 1):
        turned = replace(each, results=each.results[::-1])
        assert native.schedule(each).items == native.schedule(turned).items
