"""Storage may be named, shared, laid out and assigned to in more than one way."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.graph import Function, Node
from conformance.cases.schedule.builders import (
    alu,
    buffer,
    constant,
    copy,
    elementwise,
    given,
    graph,
    line,
    node,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.schedule import Collective, Item, Schedule
from conformance.specs.schedules import judge

A, B, ONE = stored("a"), stored("b"), constant("1")


def laid_out_for_a_copy() -> Schedule:
    """Return a copy of a.flip(), which a kernel makes contiguous and says so."""
    nodes = (A, node("f", "flip", "a", arg=(0,)), node("c", "copy", "f", device="d1"))
    turned = elementwise("f", "move", writes("t", line(), node="f"), reads("a", line(4, 3, -1)), provenance=("f",))
    items: list[Item] = [turned, copy("c", "t", writes("c", node="c"), provenance=("c",))]
    buffers = (*given("a"), buffer("t"), buffer("c", device="d1"))
    return schedule(buffers, items, graph(*nodes, results=["c"]), {"c": "c"})


def laid_out_for_a_collective() -> Schedule:
    """Return the sum of a constant on d0 and of b on d1, on both."""
    devices = ("d0", "d1")
    nodes: list[Node] = [ONE, stored("b", device="d1")]
    nodes += [node(f"y{d}", "all_reduce", "1", "b", device=at, fold="add") for d, at in enumerate(devices)]
    own = (reads("t"), reads("b"), *(writes(f"y{d}", node=f"y{d}") for d in range(2)))
    items: list[Item] = [
        elementwise("t", "move", writes("t", line(), node="1"), 1.0, provenance=("1",)),
        Collective(id="r", op="all_reduce", attrs={"op": "sum"}, participants=devices, group="g", accesses=own),
    ]
    buffers = (buffer("t"), *given("b", device="d1"), *(buffer(f"y{d}", device=at) for d, at in enumerate(devices)))
    return schedule(buffers, items, graph(*nodes, results=["y0", "y1"]), {"y0": "y0", "y1": "y1"})


def assigned(*more: Buffer, label: str | None = None) -> Schedule:
    """Return a <- b, done by a kernel that says so or not."""
    item = elementwise("w", "move", writes("a", line(), node=label), "b")
    return schedule((*given("a"), *more), [item], graph(A, B, node("w", "assign", "a", "b"), results=["w"]))


def plus_one(*buffers: Buffer) -> Schedule:
    """Return y = a + 1."""
    item = elementwise("y", "add", "y", "a", 1.0, provenance=("y",))
    nodes = (A, ONE, alu("y", "add", "a", "1"))
    return schedule((*buffers, buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})


def two_names() -> Schedule:
    """Return one part of a given buffer under two names, with nothing to do."""
    nodes = (node("e", "buf", arg="e"), node("f", "buf", arg="e"))
    return schedule((*given("a"), buffer("e", base="a")), [], graph(*nodes, results=["e", "f"]))


def called(*inner: Node, items: list[Item]) -> Schedule:
    """Return the call of a function of b."""
    function = Function(nodes=(node("q", "param", arg=0), *inner), result=inner[-1].id)
    nodes = (B, node("c", "call", "b", arg="f"))
    return schedule(given("a", "b"), items, graph(*nodes, results=["c"], functions={"f": function}))


def assigned_to_itself() -> Schedule:
    """Return a <- b, where b is another name of a, with nothing to do."""
    return schedule((*given("a"), buffer("b", base="a")), [], graph(A, B, node("w", "assign", "a", "b"), results=["w"]))


LEGAL: dict[str, Callable[[], Schedule]] = {
    "made contiguous for a copy": laid_out_for_a_copy,
    "constant for a collective": laid_out_for_a_collective,
    "assign without a label": lambda: assigned(*given("b")),
    "assign of a part of what is given": lambda: assigned(*given("g"), buffer("b", base="g"), label="w"),
    "assign to itself by another name": assigned_to_itself,
    "given part of what is not": lambda: plus_one(buffer("arena", 8), buffer("a", base="arena", preexisting=True)),
    "two names of a part of what is given": two_names,
    "call that moves storage": lambda: called(node("r", "flip", "q", arg=(0,)), items=[]),
    "call that assigns": lambda: called(A, node("r", "assign", "a", "q"), items=[elementwise("c", "move", "a", "b")]),
}


@pytest.mark.parametrize("name", LEGAL)
def test_nothing_is_broken(name: str) -> None:
    found = {each.clause: each for each in judge(LEGAL[name]())}
    assert [each for each in found.values() if each.finding == "broken"] == []
    assert found["law.C1"].finding == "held"
