"""Schedules whose memory plan is wrong."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer, Device
from conformance.cases.schedule.builders import (
    alu,
    buffer,
    constant,
    elementwise,
    given,
    graph,
    line,
    node,
    planned,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.schedule import Schedule
from conformance.qualification.violations.violation import violates

A, ONE = stored("a"), constant("1")


def chained(*buffers: Buffer) -> Schedule:
    """Return t0 = a + 1, t1 = t0 + 1, y = t1 + 1 with the given buffers for t0 and t1, each kernel having two."""
    nodes = (A, ONE, alu("p", "add", "a", "1"), alu("q", "add", "p", "1"), alu("y", "add", "q", "1"))
    items = [
        elementwise("k0", "add", writes("t0", line(), node="p"), "a", 1.0, provenance=("p",)),
        elementwise("k1", "add", writes("t1", line(), node="q"), "t0", 1.0, provenance=("q",)),
        elementwise("k2", "add", writes("y", line(), node="y"), "t1", 1.0, provenance=("y",)),
    ]
    made = schedule((*given("a"), *buffers, buffer("y")), items, graph(*nodes, results=["y"]), {"y": "y"})
    return _apart(made, 2)


def _apart(made: Schedule, most: int) -> Schedule:
    """Return a schedule on devices whose kernels take so few buffers that none of these could be one."""
    return replace(made, devices={name: replace(each, most_buffers=most) for name, each in made.devices.items()})


@violates("memory.C1")
def buffer_given_away_too_early() -> Schedule:
    """The planner frees a buffer at the kernel that still reads it, and gives its bytes to that kernel's result.

    Seen in PyTorch #108811.
    """
    return _two_users(planned(0, 0, 256))


def _two_users(buffers: tuple[Buffer, ...]) -> Schedule:
    """Return t0 = a + 1, t1 = a + 2, t2 = t0 + t1, y = t2 + 1."""
    made = alu("p", "add", "a", "1"), alu("q", "add", "a", "2"), alu("r", "add", "p", "q"), alu("y", "add", "r", "1")
    nodes = (A, ONE, constant("2", 2), *made)
    items = [
        elementwise("k0", "add", writes("t0", line(), node="p"), "a", 1.0, provenance=("p",)),
        elementwise("k1", "add", writes("t1", line(), node="q"), "a", 2.0, provenance=("q",)),
        elementwise("k2", "add", writes("t2", line(), node="r"), "t0", "t1", provenance=("r",)),
        elementwise("k3", "add", writes("y", line(), node="y"), "t2", 1.0, provenance=("y",)),
    ]
    return _apart(schedule((*given("a"), *buffers, buffer("y")), items, graph(*nodes, results=["y"]), {"y": "y"}), 3)


@violates("memory.C1")
def arena_shown_under_another_name() -> Schedule:
    """A view is taken of the arena and not of the buffer planned there, so the planner does not count its uses.

    The bytes are given to the next value while the view is still read.
    """
    arena, first, second = planned(0, 0, arena=64)
    view = replace(first, planned=False)
    return _two_users((arena, view, second, buffer("t2")))


@violates("memory.C2")
def held_buffer_planned() -> Schedule:
    """A gradient that a live tensor still names is put in the arena, and the next replay overwrites it.

    Seen in tinygrad #16571.
    """
    arena, first, second = planned(0, 256)
    return chained(arena, replace(first, held=True), second)


@violates("memory.C2")
def result_planned() -> Schedule:
    """A result is planned like any value on the way, and the caller reads an arena that the next run gives away."""
    made = chained(*planned(0, 256, arena=192))
    last = replace(made.buffers[-1], base="arena", offset=512, planned=True)
    return replace(made, buffers=(*made.buffers[:-1], last))


@violates("memory.C2")
def asked_storage_planned() -> Schedule:
    """What is assigned to is the result, and only its name is kept out of the plan, which no flag says."""
    nodes = (stored("t0"), ONE, node("w", "assign", "t0", "1"))
    item = elementwise("w", "move", writes("t0", line(), node="w"), 1.0, provenance=("w",))
    return schedule(planned(0, arena=64), [item], graph(*nodes, results=["w"]))


@violates("memory.C3")
def planned_without_sub_buffers() -> Schedule:
    """Buffers are planned on a device that cannot make a buffer of a part of another."""
    return replace(chained(*planned(0, 16, arena=8)), devices={"d0": Device(alignment=0, most_buffers=2)})


@violates("memory.C4")
def planned_without_alignment() -> Schedule:
    """Planned offsets are rounded to the element and not to the device's base alignment, which refuses them."""
    return chained(*planned(0, 16))


@violates("memory.C5")
def planned_behind_the_arena() -> Schedule:
    """The arena is as large as the greatest offset, and the last buffer ends behind it."""
    return chained(*planned(0, 256, arena=64))


@violates("memory.C6")
def within_an_element() -> Schedule:
    """A view begins within an element: an offset was counted in bytes in one place and in elements in another."""
    view = buffer("v", 2, base="a", offset=2, output=True)
    return schedule((*given("a"), view), [])


@violates("memory.C7")
def arena_larger_than_no_plan() -> Schedule:
    """A plan that only ever grows takes more than no plan at all: freed ranges were not merged."""
    return chained(*planned(0, 1024, arena=512))


@violates("memory.C8")
def planned_across_devices() -> Schedule:
    """One arena serves the buffers of two devices: lanes were keyed by size and not by device."""
    arena, first, second = planned(0, 256)
    return chained(replace(arena, device="d1"), first, second)


@violates("memory.C9")
def communication_buffer_shared() -> Schedule:
    """A buffer that peers write into directly is reused for a plain value, and a late peer overwrites it.

    Seen in torchrec #4231: the pool reused a block that a side stream still wrote.
    """
    arena, first, second = planned(0, 0)
    made = alu("p", "add", "a", "1"), alu("x", "add", "p", "1"), alu("q", "sub", "a", "1"), alu("y", "add", "q", "1")
    nodes = (A, ONE, *made)
    items = [
        elementwise("k0", "add", writes("t0", line(), node="p"), "a", 1.0, provenance=("p",)),
        elementwise("k1", "add", writes("x", line(), node="x"), "t0", 1.0, provenance=("x",)),
        elementwise("k2", "sub", writes("t1", line(), node="q"), "a", 1.0, provenance=("q",)),
        elementwise("k3", "add", writes("y", line(), node="y"), "t1", 1.0, provenance=("y",)),
    ]
    buffers = (*given("a"), arena, replace(first, communication="g"), second, buffer("x"), buffer("y"))
    return _apart(schedule(buffers, items, graph(*nodes, results=["x", "y"]), {"x": "x", "y": "y"}), 2)


@violates("memory.C10")
def plan_changes_values() -> tuple[Schedule, Schedule]:
    """Results are right until the memory planner is turned on (tinygrad #16571)."""
    apart = tuple(buffer(f"t{n}") for n in range(3))
    return _two_users(planned(0, 0, 256)), _two_users(apart)


@violates("memory.C10")
def plan_kept_when_none_is_asked_for() -> tuple[Schedule, Schedule]:
    """The flag that turns the memory planner off is not read where schedules are kept: both are the planned one."""
    made = _two_users(planned(0, 256, 512))
    return made, made
