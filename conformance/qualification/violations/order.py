"""Schedules whose order is wrong, or that are not complete."""

from __future__ import annotations

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
from conformance.qualification.violations.violation import violates

A, B, ONE, TWO = stored("a"), stored("b"), constant("1"), constant("2", 2)


def _chain(*order: str) -> Schedule:
    """Return the schedule of y = (a + 1).contig * 2, its kernels in the order given."""
    items = {
        "first": elementwise("first", "add", writes("t", line(), node="t"), "a", 1.0, provenance=("s", "t")),
        "second": elementwise("second", "mul", writes("y", line(), node="y"), "t", 2.0, provenance=("y",)),
    }
    nodes = (A, ONE, TWO, alu("s", "add", "a", "1"), node("t", "contig", "s"), alu("y", "mul", "t", "2"))
    buffers = (*given("a"), buffer("t"), buffer("y"))
    return schedule(buffers, [items[name] for name in order], graph(*nodes, results=["t", "y"]), {"t": "t", "y": "y"})


@violates("order.C1")
def reader_before_writer() -> Schedule:
    """A scheduler takes nodes in the order they were made, not in the order they are needed."""
    return _chain("second", "first")


@violates("order.C1")
def reads_a_part_that_nobody_wrote() -> Schedule:
    """A kernel stops before the tail of its buffer, and the next one reads all of it."""
    half = reads("t", ranges=((0, 16),))
    items = [opaque("half", reads("a"), writes("t", ranges=((0, 12),))), opaque("whole", half, writes("y"))]
    return schedule((*given("a"), buffer("t"), buffer("y", output=True)), items)


@violates("order.C2")
def forgotten_result() -> Schedule:
    """A result that nobody realises: the scheduler returned no item for it."""
    nodes = (A, ONE, alu("y", "add", "a", "1"))
    return schedule((*given("a"), buffer("y")), [], graph(*nodes, results=["y"]), {"y": "y"})


@violates("order.C2")
def copy_to_where_nothing_is() -> Schedule:
    """A copy to the device that its source is on is dropped, and what it was of is dropped with it."""
    nodes = (A, ONE, alu("s", "add", "a", "1"), node("y", "copy", "s"))
    return schedule(given("a"), [], graph(*nodes, results=["y"]))


@violates("order.C2")
def snapshot_not_taken() -> Schedule:
    """A contiguous buffer is taken for its own copy, and assigned to afterwards: the value asked for is gone."""
    nodes = (A, ONE, node("y", "contig", "a"), node("w", "assign", "a", "1"))
    item = elementwise("w", "move", writes("a", line(), node="w"), 1.0, provenance=("w",))
    return schedule(given("a"), [item], graph(*nodes, results=["w", "y"]))


@violates("order.C3")
def kernel_that_writes_nothing() -> Schedule:
    """The stores of a kernel are removed as dead, and the kernel is launched all the same."""
    nodes = (A, ONE, alu("y", "add", "a", "1"))
    items = [elementwise("y", "add", "y", "a", 1.0, provenance=("y",)), opaque("k", reads("a"))]
    return schedule((*given("a"), buffer("y")), items, graph(*nodes, results=["y"]), {"y": "y"})


@violates("order.C3")
def dead_kernel() -> Schedule:
    """A kernel runs for a value that nobody asked for and nothing reads: dead code was not removed."""
    nodes = (A, B, ONE, alu("y", "add", "a", "1"), alu("t", "mul", "a", "b"))
    items = [
        elementwise("dead", "mul", "t", "a", "b", provenance=("t",)),
        elementwise("wanted", "add", "y", "a", 1.0, provenance=("y",)),
    ]
    return schedule((*given("a", "b"), buffer("t"), buffer("y")), items, graph(*nodes, results=["y"]), {"y": "y"})


@violates("order.C3")
def replaced_before_it_was_read() -> Schedule:
    """Two values are handed out as views of the same bytes of one block, which no plan knows of.

    The first is replaced before anything reads it, and its reader finds the second.
    """
    views = [buffer(name, base="block") for name in ("p", "q")]
    items = [
        opaque("p", reads("a"), writes("p")),
        opaque("q", reads("a"), writes("q")),
        opaque("x", reads("p"), writes("x")),
        opaque("y", reads("q"), writes("y")),
    ]
    outputs = [buffer(name, output=True) for name in ("x", "y")]
    return schedule((*given("a"), buffer("block", 64, "uint8"), *views, *outputs), items)


def _shared(second: str) -> Schedule:
    """Return s = (a + b).contig, x = s + 1 and y = s * 2, where ``second`` is how y gets its s."""
    made = alu("t", "add", "a", "b"), node("s", "contig", "t"), alu("x", "add", "s", "1"), alu("y", "mul", "s", "2")
    nodes = (A, B, ONE, TWO, *made)
    write = writes("s", line(), node="s")
    items = [
        elementwise("s", "add", write, "a", "b", provenance=("t", "s")),
        elementwise("x", "add", "x", "s", 1.0, provenance=("x",)),
    ]
    if second == "kept twice":
        items.append(elementwise("again", "add", writes("z", line(), node="s"), "a", "b", provenance=("t", "s")))
        items.append(elementwise("y", "mul", "y", "z", 2.0, provenance=("y",)))
    elif second == "rewritten":
        items.append(elementwise("again", "add", write, "a", "b", provenance=("t", "s")))
        items.append(elementwise("y", "mul", "y", "s", 2.0, provenance=("y",)))
    else:
        items.append(opaque("y", reads("a"), reads("b"), writes("y"), provenance=("t", "s", "y")))
    buffers = (*given("a", "b"), buffer("s"), buffer("z"), buffer("x"), buffer("y"))
    return schedule(buffers, items, graph(*nodes, results=["x", "y"]), {"x": "x", "y": "y"})


@violates("order.C4")
def shared_value_written_twice() -> Schedule:
    """A value used twice is computed into its buffer twice: the set of seen nodes was lost between two results."""
    return _shared("rewritten")


@violates("order.C5")
def shared_value_computed_again() -> Schedule:
    """A value that is kept in a buffer is computed again by its second user: two equal stages were not merged."""
    return _shared("computed again")


@violates("order.C5")
def shared_value_kept_twice() -> Schedule:
    """A value is computed into a buffer for each of its users: the cache of what is kept is keyed by the user."""
    return _shared("kept twice")


@violates("order.C6")
def runs_again() -> tuple[Schedule, Schedule]:
    """Scheduling what has been run gives kernels again: the nodes were never marked as realised."""
    return _chain("first", "second"), _chain("first", "second")


@violates("order.C7")
def depends_on_the_order_of_results() -> tuple[Schedule, Schedule]:
    """realize(x, y) and realize(y, x) give other kernels (tinygrad #16823)."""
    buffers = (*given("a"), buffer("x"), buffer("y"))
    x, y = opaque("x", reads("a"), writes("x")), opaque("y", reads("a"), writes("y"))
    fused = opaque("both", reads("a"), writes("x"), writes("y"))
    return schedule(buffers, [x, y]), schedule(buffers, [fused])


@violates("order.C8")
def depends_on_the_process() -> tuple[Schedule, Schedule]:
    """The order of items follows the hash of a string, which each process draws anew.

    Ranks that compile for themselves meet in different collectives.
    """
    buffers = (*given("a"), buffer("x", dtype="int32"), buffer("y"))
    x, y = opaque("x", reads("a"), writes("x")), opaque("y", reads("a"), writes("y"))
    return schedule(buffers, [x, y]), schedule(buffers, [y, x])


@violates("order.C9")
def shared_part_made_for_each_and_kept() -> tuple[Schedule, Schedule, Schedule]:
    """What two results share is kept when both are asked for, and yet each of them takes as many kernels as alone."""
    nodes = (A, ONE, TWO, alu("x", "add", "a", "1"), alu("y", "mul", "a", "2"))

    def made(*names: str, kept: bool = False) -> Schedule:
        items = [elementwise("t", "move", writes("t", line()), "a")] if kept else []
        items += [
            elementwise(n, "add" if n == "x" else "mul", n, "t" if kept else "a", 1.0 + (n == "y")) for n in names
        ]
        buffers = (*given("a"), *(buffer(n) for n in (*names, *(["t"] if kept else []))))
        return schedule(buffers, items, graph(*nodes, results=list(names)), {n: n for n in names})

    return made("x", "y", kept=True), made("x"), made("y")
