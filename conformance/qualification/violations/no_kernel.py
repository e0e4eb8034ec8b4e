"""Schedules with a kernel or a copy that nothing is gained by."""

from __future__ import annotations

from typing import Any

from conformance.cases.graph.buffer import Bounds, Buffer
from conformance.cases.graph.graph import Node
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
    opaque,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.schedule import Item, Schedule
from conformance.qualification.violations.violation import violates

A, ONE = stored("a"), constant("1")


def _made(*nodes: Node, count: int = 4, source: str = "a", extra: tuple[Buffer, ...] = (), **rest: Any) -> Schedule:
    """Return a schedule whose one kernel makes the last of ``nodes``."""
    made = nodes[-1]
    item = opaque("k", reads(source), writes("y", node=made.id), provenance=(made.id,))
    buffers = (*given("a"), *extra, buffer("y", count, **rest))
    return schedule(buffers, [item], graph(*nodes, results=[made.id]), {made.id: "y"})


@violates("no_kernel.C1")
def kernel_for_a_constant() -> Schedule:
    """full(3) * full(2) runs a kernel that reads nothing: constants were not folded before scheduling."""
    return _made(ONE, constant("2", 2), alu("y", "mul", "1", "2"))


@violates("no_kernel.C2")
def kernel_for_a_buffer() -> Schedule:
    """Asking for a realised buffer copies it."""
    return _made(A)


@violates("no_kernel.C3")
def kernel_for_a_view() -> Schedule:
    """Realising a transpose of a buffer copies it, so that writes through the view are lost to the base."""
    return _made(stored("a", (2, 2)), node("y", "permute", "a", shape=(2, 2), arg=(1, 0)))


@violates("no_kernel.C3")
def slice_made_for_a_copy() -> Schedule:
    """A slice is made contiguous before it is copied, although its bytes lie side by side."""
    nodes = (A, node("v", "shrink", "a", shape=(2,), arg=((1, 3),)), node("c", "copy", "v", shape=(2,), device="d1"))
    items: list[Item] = [
        opaque("k", reads("a"), writes("t", node="v"), provenance=("v",)),
        copy("send", "t", writes("y", node="c"), provenance=("c",)),
    ]
    buffers = (*given("a"), buffer("t", 2), buffer("y", 2, device="d1"))
    return schedule(buffers, items, graph(*nodes, results=["c"]), {"c": "y"})


@violates("no_kernel.C4")
def kernel_for_no_movement() -> Schedule:
    """A reshape to the same shape gets a kernel of its own."""
    nodes = (A, ONE, alu("s", "add", "a", "1"), node("y", "reshape", "s"))
    items = [
        opaque("s", reads("a"), writes("s", node="s"), provenance=("s",)),
        opaque("k", reads("s"), writes("y", node="y"), provenance=("y",)),
    ]
    return schedule((*given("a"), buffer("s"), buffer("y")), items, graph(*nodes, results=["y"]), {"y": "y"})


@violates("no_kernel.C5")
def contiguous_made_contiguous() -> Schedule:
    """contiguous() of a whole buffer in order copies it, at every call."""
    return _made(A, node("v", "reshape", "a", shape=(2, 2)), node("y", "contig", "v", shape=(2, 2)))


@violates("no_kernel.C6")
def kernel_over_nothing() -> Schedule:
    """A value without elements is launched all the same; a device refuses a launch of size 0."""
    empty = (buffer("e", 0, preexisting=True),)
    return _made(
        stored("e", (0,)),
        constant("1", 1, (0,)),
        alu("y", "add", "e", "1", shape=(0,)),
        count=0,
        source="a",
        extra=empty,
    )


@violates("no_kernel.C7")
def kernel_that_reduces_nothing() -> Schedule:
    """Sum over an axis of extent 0 runs a kernel whose loop never begins, and leaves its accumulator undefined."""
    empty = (buffer("e", 0, preexisting=True),)
    return _made(
        stored("e", (0, 3)),
        node("y", "reduce", "e", shape=(3,), arg=(0,), fold="add"),
        count=3,
        extra=empty,
        source="a",
    )


@violates("no_kernel.C17")
def kernel_that_reduces_one_term() -> Schedule:
    """Sum over an axis of extent 1 runs a kernel that copies: whether an axis is folded is asked, and no extent."""
    return _made(stored("a", (4, 1)), node("y", "reduce", "a", arg=(1,), fold="add"))


@violates("no_kernel.C8")
def kernel_for_a_detach() -> Schedule:
    """Detach copies: what only gradients care about became a kernel."""
    nodes = (A, ONE, alu("s", "add", "a", "1"), node("y", "detach", "s"))
    items = [
        opaque("s", reads("a"), writes("s", node="s"), provenance=("s",)),
        opaque("k", reads("s"), writes("y", node="y"), provenance=("y",)),
    ]
    return schedule((*given("a"), buffer("s"), buffer("y")), items, graph(*nodes, results=["y"]), {"y": "y"})


@violates("no_kernel.C9")
def empty_filled() -> Schedule:
    """empty() is filled with zeros by a kernel."""
    nodes = (stored("e"),)
    items = [opaque("k", writes("e", node="e"), provenance=("e",))]
    return schedule((buffer("e"),), items, graph(*nodes, results=["e"]), {"e": "e"})


@violates("no_kernel.C16")
def two_empties_made_one() -> Schedule:
    """Two buffers of equal shape, asked for empty, are merged as equal values (tinygrad #12442).

    What is assigned to one is then read from the other.
    """
    nodes = (node("e", "buf", arg="e"), node("f", "buf", arg="e"))
    return schedule((buffer("e"),), [], graph(*nodes, results=["e", "f"]))


@violates("no_kernel.C10")
def kernel_for_a_variable() -> Schedule:
    """A variable is written to memory by a kernel, instead of being an argument."""
    nodes = (node("n", "var", shape=(), dtype="int64", arg="n"),)
    items = [opaque("k", writes("y", node="n"), provenance=("n",))]
    buffers = (buffer("y", 1, "int64"),)
    return schedule(buffers, items, graph(*nodes, results=["n"]), {"n": "y"}, variables={"n": Bounds(low=1, high=4)})


@violates("no_kernel.C11")
def assigned_to_itself() -> Schedule:
    """a.assign(a) runs a kernel, which races with itself where it is split over devices."""
    nodes = (A, node("w", "assign", "a", "a"))
    items = [opaque("k", reads("a"), writes("a", node="w"), provenance=("w",))]
    return schedule(given("a"), items, graph(*nodes, results=["w"]))


@violates("no_kernel.C12")
def undefined_assigned() -> Schedule:
    """a.assign(empty) overwrites a with whatever the allocator had there."""
    nodes = (A, stored("e"), node("w", "assign", "a", "e"))
    items = [opaque("k", writes("a", node="w"), provenance=("w",))]
    return schedule((*given("a"), buffer("e")), items, graph(*nodes, results=["w"]))


@violates("no_kernel.C13")
def copied_to_where_it_is() -> Schedule:
    """x.to(x.device) moves bytes."""
    nodes = (A, ONE, alu("s", "add", "a", "1"), node("y", "copy", "s"))
    items = [
        opaque("s", reads("a"), writes("s", node="s"), provenance=("s",)),
        opaque("k", reads("s"), writes("y", node="y"), provenance=("y",)),
    ]
    return schedule((*given("a"), buffer("s"), buffer("y")), items, graph(*nodes, results=["y"]), {"y": "y"})


@violates("no_kernel.C14")
def constant_copied() -> Schedule:
    """A constant is sent to another device, where it could have been a constant."""
    nodes = (ONE, node("y", "copy", "1", device="d1"))
    items: list[Item] = [
        elementwise("t", "move", writes("pool", line(8)), 1.0, shape=(8,)),
        copy("k", reads("pool", line()), writes("y", node="y"), provenance=("y",)),
    ]
    buffers = (buffer("pool", 8), buffer("y", device="d1"))
    return schedule(buffers, items, graph(*nodes, results=["y"]), {"y": "y"})


@violates("no_kernel.C15")
def copied_there_and_back() -> Schedule:
    """x.to(d1).to(d0) moves bytes twice, and ends with what it began with."""
    nodes = (A, node("there", "copy", "a", device="d1"), node("back", "copy", "there"))
    items = [
        copy("send", "a", writes("t", node="there"), provenance=("there",)),
        copy("return", "t", writes("y", node="back"), provenance=("back",)),
    ]
    buffers = (*given("a"), buffer("t", device="d1"), buffer("y"))
    return schedule(buffers, items, graph(*nodes, results=["back"]), {"back": "y"})
