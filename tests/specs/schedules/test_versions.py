"""What is read on both sides of an assign may be computed by one kernel, if it has both versions."""

from __future__ import annotations

import pytest

from conformance.cases.schedule.builders import (
    alu,
    buffer,
    constant,
    elementwise,
    given,
    graph,
    line,
    node,
    opaque,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.schedule import Schedule
from conformance.qualification.violations.versions import both_sides
from conformance.specs.schedules import judge

A, B, ONE, NINE = stored("a"), stored("b"), constant("1"), constant("9", 9)


def made_anew() -> Schedule:
    """Return s = a + 1; a <- s; y = a * a, where y makes s anew from the old a."""
    nodes = (A, ONE, alu("s", "add", "a", "1"), node("w", "assign", "a", "s"), alu("y", "mul", "w", "w"))
    assign = elementwise("w", "add", writes("a", line(), node="w"), "a", 1.0, provenance=("s", "w"))
    y = opaque("y", reads("a"), writes("y", node="y"), provenance=("s", "y"))
    buffers = (*given("a"), buffer("y"))
    return schedule(buffers, [y, assign], graph(*nodes, results=["w", "y"]), {"y": "y"})


def known_constant() -> Schedule:
    """Return n = a + 1; a <- 9; y = n + a, where y knows the 9."""
    nodes = (A, ONE, NINE, alu("n", "add", "a", "1"), node("w", "assign", "a", "9"), alu("y", "add", "n", "w"))
    y = elementwise("y", "add", writes("y", line(), node="y"), "a", 10.0, provenance=("n", "y"))
    assign = elementwise("w", "move", writes("a", line(), node="w"), 9.0, provenance=("w",))
    buffers = (*given("a"), buffer("y"))
    return schedule(buffers, [y, assign], graph(*nodes, results=["w", "y"]), {"y": "y"})


def name_from_before() -> Schedule:
    """Return f = a.flip(); a <- b; y = f + 1, with f among what the kernel of y computes."""
    nodes = (
        *(A, B, ONE),
        node("f", "flip", "a", arg=(0,)),
        node("w", "assign", "a", "b"),
        alu("y", "add", "f", "1"),
    )
    turned = reads("a", line(4, 3, -1))
    items = [
        elementwise("w", "move", writes("a", line(), node="w"), "b", provenance=("w",)),
        elementwise("y", "add", "y", turned, 1.0, provenance=("f", "y")),
    ]
    return schedule((*given("a", "b"), buffer("y")), items, graph(*nodes, results=["y"]), {"y": "y"})


def halves() -> Schedule:
    """Return n = a[0:2] + 1; a[2:4] <- b; y = n + a[2:4], where one read of all of a is both."""
    nodes = (
        *(A, stored("b", (2,)), constant("1", 1, (2,))),
        node("l", "shrink", "a", shape=(2,), arg=((0, 2),)),
        alu("n", "add", "l", "1", shape=(2,)),
        node("r", "shrink", "a", shape=(2,), arg=((2, 4),)),
        node("w", "assign", "r", "b", shape=(2,)),
        alu("y", "add", "n", "w", shape=(2,)),
    )
    items = [
        elementwise("w", "move", writes("a", line(2, 2), node="w"), reads("b", line(2)), shape=(2,), provenance=("w",)),
        opaque("y", reads("a"), writes("y", node="y"), provenance=("n", "y")),
    ]
    buffers = (*given("a"), *given("b", count=2), buffer("y", 2))
    return schedule(buffers, items, graph(*nodes, results=["y"]), {"y": "y"})


def repeated() -> Schedule:
    """Return a <- b; y = a + 1; a <- b, where the one assign is done once, as the second."""
    nodes = (A, B, ONE, node("v", "assign", "a", "b"), alu("y", "add", "a", "1"), node("w", "assign", "a", "b"))
    items = [
        elementwise("w", "move", writes("a", line(), node="w"), "b", provenance=("w",)),
        elementwise("y", "add", "y", "a", 1.0, provenance=("y",)),
    ]
    return schedule((*given("a", "b"), buffer("y")), items, graph(*nodes, results=["y", "w"]), {"y": "y"})


LEGAL = {
    "assign done once": repeated,
    "old value kept": lambda: both_sides("t", "a", "keep", "w", "y"),
    "new value from its source": lambda: both_sides("a", "b", "y", "w"),
    "new value made anew": made_anew,
    "new value a constant": known_constant,
    "name from before": name_from_before,
    "halves": halves,
}


@pytest.mark.parametrize("name", LEGAL)
def test_nothing_is_broken(name: str) -> None:
    found = {each.clause: each for each in judge(LEGAL[name]())}
    assert [each for each in found.values() if each.finding == "broken"] == []
    assert found["law.C1"].finding == ("silent" if name in {"new value made anew", "halves"} else "held")
