"""Schedules whose assigns, aliases or edges are wrong."""

from __future__ import annotations

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
from conformance.cases.schedule.index_map import Affine, IndexMap
from conformance.cases.schedule.kernel_body import Alu, Body, Load, Reduce, Store
from conformance.cases.schedule.schedule import Item, Kernel, Schedule
from conformance.qualification.violations.violation import violates

A, B, ONE, NINE = stored("a"), stored("b"), constant("1"), constant("9", 9)
SQUARE: IndexMap = (Affine(extents=(2, 2), strides=(2, 1)),)
TURNED: IndexMap = (Affine(extents=(2, 2), strides=(1, 2)),)


@violates("assign.C1")
def transposed_in_place() -> Schedule:
    """a.assign(a.T) in one kernel: half of the elements are read after they were overwritten (tinygrad #12299)."""
    square = stored("a", (2, 2))
    turned = node("t", "permute", "a", shape=(2, 2), arg=(1, 0))
    nodes = (square, turned, node("w", "assign", "a", "t", shape=(2, 2)))
    item = elementwise("k", "move", writes("a", SQUARE, node="w"), reads("a", TURNED), shape=(2, 2), provenance=("w",))
    return schedule(given("a"), [item], graph(*nodes, results=["w"]))


@violates("assign.C1")
def reduced_in_place() -> Schedule:
    """One kernel takes the sum of a buffer from each of its elements: the sum is of some that are less already."""
    every: IndexMap = (Affine(extents=(4, 4), strides=(1, 0)),)
    summed: IndexMap = (Affine(extents=(4, 4), strides=(0, 1)),)
    body = Body(
        extents=(4, 4),
        instructions=(
            Load(access=0),
            Load(access=1),
            Reduce(op="add", of=1, axes=(1,)),
            Alu(op="sub", of=(0, 2)),
            Store(access=2, of=3),
        ),
    )
    own = (reads("a", every), reads("a", summed), writes("a", every, node="w"))
    item = Kernel(id="k", device="d0", accesses=own, bodies=(body,), provenance=("s", "w"))
    nodes = (
        A,
        node("s", "reduce", "a", shape=(), arg=(0,), fold="add"),
        node("r", "reshape", "s", shape=(1,)),
        node("e", "expand", "r"),
        alu("d", "sub", "a", "e"),
        node("w", "assign", "a", "d"),
    )
    return schedule(given("a"), [item], graph(*nodes, results=["w"]))


@violates("assign.C1")
def bodies_that_race() -> Schedule:
    """A snapshot of a buffer and an assign to it are fused side by side: each block may come before the other."""
    bodies = tuple(Body(extents=(4,), instructions=(Load(access=at), Store(access=at + 1, of=0))) for at in (0, 2))
    own = (reads("a", line()), writes("y", line(), node="y"), reads("b", line()), writes("a", line(), node="w"))
    item = Kernel(id="k", device="d0", accesses=own, bodies=bodies, provenance=("y", "w"))
    nodes = (A, B, node("y", "contig", "a"), node("w", "assign", "a", "b"))
    return schedule((*given("a", "b"), buffer("y")), [item], graph(*nodes, results=["y", "w"]), {"y": "y"})


@violates("assign.C2")
def old_and_new_state_in_one_kernel() -> Schedule:
    """One kernel reads a buffer before and after it assigns to it.

    The check for such a cycle had been dropped for speed. Seen in tinygrad #12405.
    """
    body = Body(
        extents=(4,),
        instructions=(Load(access=0), Store(access=1, of=0), Load(access=2), Store(access=3, of=2)),
    )
    own = (reads("b", line()), writes("a", line()), reads("a", line()), writes("y", line()))
    item = Kernel(id="k", device="d0", accesses=own, bodies=(body,))
    return schedule((*given("a", "b"), buffer("y", output=True)), [item])


@violates("assign.C3")
def edge_to_the_writer_dropped() -> Schedule:
    """A kernel on a second queue begins before the one that writes what it reads.

    Stages without a barrier between them. Seen in vLLM #2760.
    """
    items = [opaque("first", reads("a"), writes("t")), opaque("second", reads("t"), writes("y"), after=())]
    return schedule((*given("a"), buffer("t"), buffer("y", output=True)), items)


@violates("assign.C4")
def edge_to_the_reader_dropped() -> Schedule:
    """Edges are built from the kernels' own sources and not from what they come after, so a write passes a read.

    Seen in tinygrad #14754.
    """
    items = [opaque("reader", reads("a"), writes("y")), opaque("writer", reads("b"), writes("a"), after=())]
    return schedule((*given("a", "b"), buffer("y", output=True)), items)


@violates("assign.C4")
def edge_from_a_shard_dropped() -> Schedule:
    """Reads of a sharded value, one on each device, leave no edge.

    So the shard of one device is overwritten while it is being gathered to another. Seen in tinygrad #16831.
    """
    buffers = (*given("s0"), *given("s1", "new", device="d1"), buffer("y", 8, output=True))
    items: list[Item] = [
        opaque("own", reads("s0"), writes("y", ranges=((0, 16),))),
        copy("gather", "s1", writes("y", ranges=((16, 32),))),
        opaque("assign", reads("new"), writes("s1"), device="d1", after=("own",)),
    ]
    return schedule(buffers, items)


@violates("assign.C5")
def edge_between_writers_dropped() -> Schedule:
    """Two kernels write overlapping slices on two queues, and the earlier one ends last."""
    items = [
        opaque("first", reads("b"), writes("a", ranges=((0, 12),))),
        opaque("second", reads("b"), writes("a", ranges=((8, 16),)), after=()),
    ]
    return schedule(given("a", "b"), items)


def _captured(*order: str) -> Schedule:
    """Return b = a + 1; a <- 9; c = a * 9, its kernels in the order given."""
    nodes = (A, ONE, NINE, alu("b", "add", "a", "1"), node("w", "assign", "a", "9"), alu("c", "mul", "a", "9"))
    items: dict[str, Item] = {
        "b": elementwise("b", "add", "b", "a", 1.0, provenance=("b",)),
        "w": elementwise("w", "move", writes("a", line(), node="w"), 9.0, provenance=("w",)),
        "c": elementwise("c", "mul", "c", "a", 9.0, provenance=("c",)),
    }
    buffers = (*given("a"), buffer("b"), buffer("c"))
    wanted = graph(*nodes, results=["b", "w", "c"])
    return schedule(buffers, [items[name] for name in order], wanted, {"b": "b", "c": "c"})


@violates("assign.C6")
def assigned_before_it_was_read() -> Schedule:
    """A write into an input is scheduled before lazy readers of the old value (PyTorch #107614, tinygrad #16823)."""
    return _captured("w", "b", "c")


@violates("assign.C6")
def swapped_without_a_third() -> Schedule:
    """Two buffers are swapped by two kernels and nothing between: both hold the same afterwards (tinygrad refuses)."""
    nodes = (A, B, node("old", "contig", "a"), node("v", "assign", "a", "b"), node("w", "assign", "b", "old"))
    items = [
        elementwise("first", "move", writes("a", line(), node="v"), "b", provenance=("v",)),
        elementwise("second", "move", writes("b", line(), node="w"), "a", provenance=("old", "w")),
    ]
    return schedule(given("a", "b"), items, graph(*nodes, results=["v", "w"]))


@violates("assign.C7")
def read_before_it_was_assigned() -> Schedule:
    """A value asked for after an assign is computed before it: the reader was fused into an earlier loop.

    Seen in PyTorch #109172.
    """
    return _captured("b", "c", "w")


@violates("assign.C8")
def earlier_assign_wins() -> Schedule:
    """a[0:3] = 1 and a[2:4] = 2 done in the other order: element 2 is 1 at the end."""
    nodes = (
        A,
        node("l", "shrink", "a", shape=(3,), arg=((0, 3),)),
        constant("1", 1, (3,)),
        node("v", "assign", "l", "1", shape=(3,)),
        node("r", "shrink", "a", shape=(2,), arg=((2, 4),)),
        constant("2", 2, (2,)),
        node("w", "assign", "r", "2", shape=(2,)),
    )
    items = [
        elementwise("w", "move", writes("a", line(2, 2), node="w"), 2.0, shape=(2,), provenance=("w",)),
        elementwise("v", "move", writes("a", line(3), node="v"), 1.0, shape=(3,), provenance=("v",)),
    ]
    return schedule(given("a"), items, graph(*nodes, results=["v", "w"]))


def _sliced(index_map: IndexMap, count: int, buffer_id: str = "a") -> Schedule:
    """Return a[0:2] = 9 whose kernel writes ``count`` elements by ``index_map``."""
    nodes = (
        A,
        node("l", "shrink", "a", shape=(2,), arg=((0, 2),)),
        constant("9", 9, (2,)),
        node("w", "assign", "l", "9", shape=(2,)),
    )
    write = writes(buffer_id, index_map, node="w")
    item = elementwise("w", "move", write, 9.0, shape=(count,), provenance=("w",))
    return schedule((*given("a"), buffer("t", output=True)), [item], graph(*nodes, results=["w"]))


@violates("assign.C9")
def whole_buffer_written() -> Schedule:
    """An assign to a slice writes over the ranges of the buffer (tinygrad #15381).

    A reduce_scatter in place tramples the rest of its buffer. Seen in Aluminum #110.
    """
    return _sliced(line(3), 3)


@violates("assign.C10")
def slice_written_in_part() -> Schedule:
    """An assign to a slice stops one element early: the tail of a loop was cut off."""
    return _sliced(line(1), 1)


@violates("assign.C11")
def assigned_elsewhere() -> Schedule:
    """Two targets of equal content were merged into one, so that an assign reaches the buffer of another tensor.

    Seen in tinygrad #12442.
    """
    return _sliced(line(2), 2, "t")


@violates("assign.C12")
def input_taken_for_output() -> Schedule:
    """A result is written over an input of the same size, whose owner reads it again in the next step.

    Seen in tinygrad #14210.
    """
    nodes = (A, ONE, alu("y", "add", "a", "1"))
    item = elementwise("k", "add", writes("a", line(), node="y"), "a", 1.0, provenance=("y",))
    return schedule(given("a"), [item], graph(*nodes, results=["y"]), {"y": "a"})


@violates("assign.C12")
def part_of_an_arena_written() -> Schedule:
    """Scratch is put where a part of a larger allocation holds data, because the allocation itself is new."""
    nodes = (A, ONE, alu("s", "add", "a", "1"), alu("y", "mul", "s", "a"))
    items = [
        opaque("s", reads("a"), writes("arena", ranges=((8, 24),)), provenance=("s",)),
        opaque("y", reads("arena", ranges=((8, 24),)), writes("y", node="y"), provenance=("y",)),
    ]
    buffers = (buffer("arena", 8), buffer("a", base="arena", preexisting=True), buffer("y"))
    return schedule(buffers, items, graph(*nodes, results=["y"]), {"y": "y"})


@violates("assign.C13")
def nothing_assigned() -> Schedule:
    """An assign to a view without elements is launched."""
    none = node("l", "shrink", "a", shape=(0,), arg=((0, 0),))
    nodes = (A, none, constant("9", 9, (0,)), node("w", "assign", "l", "9", shape=(0,)))
    item = elementwise("w", "move", writes("a", line(0), node="w"), 9.0, shape=(0,), provenance=("w",))
    return schedule(given("a"), [item], graph(*nodes, results=["w"]))


@violates("assign.C14")
def one_replica_assigned() -> Schedule:
    """An assign to a replicated tensor reaches the replica of one device: the others keep the old value."""
    nodes = []
    for device in ("d0", "d1"):
        nodes += [
            stored(f"a{device}", device=device),
            constant(f"9{device}", 9, device=device),
            node(f"w{device}", "assign", f"a{device}", f"9{device}", device=device),
        ]
    item = elementwise("w", "move", writes("ad0", line(), node="wd0"), 9.0, provenance=("wd0",))
    buffers = (*given("ad0"), *given("ad1", device="d1"))
    return schedule(buffers, [item], graph(*nodes, results=["wd0", "wd1"]))


@violates("assign.C14")
def clamp_taken_for_nothing() -> Schedule:
    """An optimiser that believes its inputs positive drops a <- max(a, 0), and what is below zero stays."""
    nodes = (A, constant("0", 0), alu("m", "max", "a", "0"), node("w", "assign", "a", "m"))
    return schedule(given("a"), [], graph(*nodes, results=["w"]))


@violates("assign.C14")
def overwritten_before_it_was_read() -> Schedule:
    """The first of two assigns is dropped as dead, because the read between them goes through another name."""
    nodes = (
        *(A, stored("alias"), ONE, NINE),
        node("v", "assign", "a", "9"),
        alu("y", "add", "alias", "1"),
        node("w", "assign", "a", "1"),
    )
    items = [
        opaque("y", reads("a"), writes("y", node="y")),
        elementwise("w", "move", writes("a", line(), node="w"), 1.0, provenance=("w",)),
    ]
    buffers = (*given("a"), buffer("alias", base="a"), buffer("y"))
    return schedule(buffers, items, graph(*nodes, results=["y", "w"]), {"y": "y"})
