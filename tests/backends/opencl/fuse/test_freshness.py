"""Assigns between reads of what others overwrite: done as early as they may be, and never before what they follow."""

from __future__ import annotations

import random

import pytest

from conformance.cases.graph.graph import Graph, Node
from conformance.cases.schedule.builders import alu, graph, node, stored
from conformance.cases.schedule.schedule import Kernel
from tests.backends.opencl.conftest import OpenBackend
from tests.backends.opencl.graph.compared import compared


def kernels(made: Graph, opencl: OpenBackend) -> int:
    compared(made, opencl())
    return sum(isinstance(each, Kernel) for each in opencl().schedule(made).items)


def test_an_assign_is_done_before_a_write_that_precedes_it_and_leaves_it_alone(opencl: OpenBackend) -> None:
    made = alu("e", "add", "a", "a"), alu("m", "mul", "b", "e")
    nodes = stored("a"), stored("b"), *made, node("w", "assign", "a", "b"), node("v", "assign", "b", "m")
    assert kernels(graph(*nodes, results=["w", "v"]), opencl) == 3
    first = alu("n", "neg", "a"), node("w", "assign", "a", "n")
    nodes = stored("a"), stored("b"), *made, *first, node("v", "assign", "b", "m")
    assert kernels(graph(*nodes, results=["w", "v"]), opencl) == 2


def test_two_that_take_what_the_other_overwrites_have_one_value_kept(opencl: OpenBackend) -> None:
    made = alu("m", "neg", "a"), alu("n", "abs", "b")
    nodes = stored("a"), stored("b"), *made, node("w", "assign", "a", "n"), node("v", "assign", "b", "m")
    assert kernels(graph(*nodes, results=["w", "v"]), opencl) == 3


@pytest.mark.parametrize(("first", "count"), [(0, 1), (1, 2)])
def test_elements_that_are_written_elsewhere_are_kept_where_they_meet_those_that_are_read(
    first: int, count: int, opencl: OpenBackend
) -> None:
    read = node("r", "shrink", "a", shape=(2,), arg=((first, first + 2),))
    target = node("t", "shrink", "a", shape=(2,), arg=((2, 4),))
    nodes = stored("a"), read, node("d", "detach", "r", shape=(2,)), target, node("w", "assign", "t", "d", shape=(2,))
    made = graph(*nodes, results=["w"])
    assert kernels(made, opencl) == count
    named = {name for each in opencl().schedule(made).items for name in getattr(each, "provenance", ())}
    assert named <= {"w", "r"}


def drawn(seed: int) -> Graph:
    """Return three buffers, and values of any versions of them in each other's places."""
    draw = random.Random(seed)
    nodes: list[Node] = [stored(name) for name in "abc"]
    last = {name: name for name in "abc"}
    for number in range(draw.randint(6, 24)):
        taken = [draw.choice([*nodes[-6:], *nodes]).id for _ in range(2)]
        if draw.random() < 0.5:
            nodes.append(alu(f"v{number}", draw.choice(["max", "min"]), *taken))
        else:
            name = draw.choice("abc")
            nodes.append(node(f"v{number}", "assign", last[name], taken[0]))
            last[name] = f"v{number}"
    return graph(*nodes, results=sorted({*last.values()} - {*"abc"}) or ["a"])


@pytest.mark.parametrize("seed", range(40))
def test_writes_in_any_places_have_the_values_of_eager_evaluation(seed: int, opencl: OpenBackend) -> None:
    compared(drawn(seed), opencl())
