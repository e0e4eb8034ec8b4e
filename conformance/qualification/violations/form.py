"""Schedules that say nothing definite; a loader refuses each with a named error."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.cases.graph.graph import Function
from conformance.cases.program.program import Attr
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
from conformance.cases.schedule.kernel_body import Alu, Body, Load, Store
from conformance.cases.schedule.schedule import Collective, Kernel, Schedule, Wait
from conformance.qualification.violations.violation import violates

A, ONE = stored("a"), constant("1")


def _sound() -> Schedule:
    """Return y = a + 1."""
    item = elementwise("k", "add", "y", "a", 1.0, provenance=("y",))
    nodes = (A, ONE, alu("y", "add", "a", "1"))
    return schedule((*given("a"), buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("form.C1")
def two_items_of_one_name() -> Schedule:
    """Two compiled graphs share an id, and one waits for the work of the other."""
    made = _sound()
    return replace(made, items=made.items * 2)


@violates("form.C1")
def result_in_two_places() -> Schedule:
    """A result is said to be in two buffers, of which only one was written, and the caller gets the other."""
    made = _sound()
    other = replace(made.places[0], buffer="z")
    return replace(made, buffers=(*made.buffers, buffer("z")), places=(other, *made.places))


@violates("form.C2")
def undeclared_buffer() -> Schedule:
    """An item uses a buffer that was freed with the graph that declared it."""
    made = _sound()
    return replace(made, buffers=made.buffers[:1])


@violates("form.C3")
def unknown_variable() -> Schedule:
    """A buffer's shape names a variable of another program."""
    made = _sound()
    return replace(made, buffers=(*made.buffers, buffer("t", shape=("n",))))


@violates("form.C4")
def wait_for_nothing() -> Schedule:
    """A wait is emitted for a collective that was removed as dead."""
    made = _sound()
    return replace(made, items=(*made.items, Wait(id="w", handle="h")))


@violates("form.C5")
def assigned_to_a_value() -> Schedule:
    """An assign to a + 1, which has no storage, is accepted and lost."""
    made = _sound()
    assert made.graph is not None
    wanted = replace(made.graph, nodes=(*made.graph.nodes, node("w", "assign", "y", "a")))
    return replace(made, graph=wanted)


@violates("form.C6")
def kernels_that_need_each_other() -> Schedule:
    """A and C are fused around B, which needs one and is needed by the other (PyTorch #175812).

    The scheduler returns an arbitrary order. Seen in tinygrad #12405.
    """
    items = [opaque("ac", reads("a"), writes("t"), after=("b",)), opaque("b", reads("t"), writes("y"), after=("ac",))]
    return schedule((*given("a"), buffer("t"), buffer("y", output=True)), items)


@violates("form.C7")
def kernel_over_two_devices() -> Schedule:
    """A kernel split to save arguments lands on a device of its own choice, away from its buffers (tinygrad #12414)."""
    return schedule((*given("a"), buffer("y", device="d1", output=True)), [opaque("k", reads("a"), writes("y"))])


@violates("form.C8")
def view_longer_than_its_base() -> Schedule:
    """A view is made with the size of its base and an offset: its end lies in the next allocation."""
    made = _sound()
    return replace(made, buffers=(*made.buffers, buffer("v", base="a", offset=8)))


@violates("form.C9")
def participant_named_twice() -> Schedule:
    """A tuple of devices that names one twice works by luck, until the group is more than a loop over it."""
    own = (reads("a"), reads("a"), writes("y"), writes("y"))
    item = Collective(id="r", op="all_reduce", participants=("d0", "d0"), group="g", accesses=own)
    return schedule((*given("a"), buffer("y", output=True)), [item])


@violates("form.C9")
def written_by_another_than_the_root() -> Schedule:
    """Every rank's buffer is marked as written by a reduce, and one that is not the root goes on with what is in it."""
    own = (reads("a"), reads("b"), writes("y"), writes("z"))
    attrs: dict[str, Attr] = {"op": "sum", "root": 0}
    item = Collective(id="r", op="reduce", attrs=attrs, participants=("d0", "d1"), group="g", accesses=own)
    buffers = (*given("a"), *given("b", device="d1"), buffer("y"), buffer("z", device="d1", output=True))
    return schedule(buffers, [item])


@violates("form.C10")
def node_of_another_shape() -> Schedule:
    """A shrink is taken for the identity because its extent fits, whatever its offset."""
    made = _sound()
    assert made.graph is not None
    wrong = node("v", "shrink", "a", shape=(4,), arg=((1, 5),))
    return replace(made, graph=replace(made.graph, nodes=(*made.graph.nodes, wrong)))


@violates("form.C10")
def call_of_another_shape() -> Schedule:
    """A call keeps the shape that its function gave before it was rewritten."""
    made = _sound()
    assert made.graph is not None
    function = Function(nodes=(node("q", "param", arg=0), alu("r", "neg", "q")), result="r")
    call = node("c", "call", "a", shape=(2, 2), arg="f")
    wanted = replace(made.graph, nodes=(*made.graph.nodes, call), functions={"f": function})
    return replace(made, graph=wanted)


@violates("form.C11")
def instruction_of_two_dtypes() -> Schedule:
    """A float32 and an int32 are added without a cast: what comes out depends on the compiler."""
    add = (Load(access=0), Load(access=1), Alu(op="add", of=(0, 1)), Store(access=2, of=2))
    own = (reads("a", line()), reads("b", line()), writes("y", line()))
    kernel = Kernel(id="k", device="d0", accesses=own, bodies=(Body(extents=(4,), instructions=add),))
    buffers = (*given("a"), buffer("b", dtype="int32", preexisting=True), buffer("y", output=True))
    return schedule(buffers, [kernel])
