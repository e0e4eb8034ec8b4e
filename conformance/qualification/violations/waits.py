"""Schedules whose starts and waits do not match, or whose participants do not."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.graph import Node
from conformance.cases.schedule.builders import (
    alu,
    buffer,
    constant,
    elementwise,
    graph,
    line,
    node,
    opaque,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.schedule import Collective, Item, Schedule, Wait
from conformance.qualification.violations.violation import violates

DEVICES = ("d0", "d1")


def _reduced(id: str = "r", source: str = "x", target: str = "y", handle: str | None = "h", **rest: Any) -> Collective:
    """Return an all_reduce of two devices in one opaque call."""
    own = (*(reads(f"{source}{d}") for d in range(2)), *(writes(f"{target}{d}") for d in range(2)))
    return Collective(
        id=id,
        op="all_reduce",
        attrs={"op": "sum"},
        participants=DEVICES,
        group="g",
        accesses=own,
        handle=handle,
        **rest,
    )


def _pairs(*names: str, **flags: Any) -> tuple[Buffer, ...]:
    return tuple(buffer(f"{name}{d}", device=f"d{d}", **flags) for name in names for d in range(2))


def _of(*items: Item) -> Schedule:
    """Return the schedule that reduces x to y, z being free for others."""
    buffers = (*_pairs("x", preexisting=True), *_pairs("y", "u", output=True), buffer("z", output=True))
    return schedule(buffers, items)


@violates("waits.C1")
def never_waited_for() -> Schedule:
    """A collective is started and its buffer returned as it is (PyTorch #162749)."""
    return _of(_reduced())


@violates("waits.C1")
def only_the_first_of_several_waited_for() -> Schedule:
    """One wait is emitted for a list of collectives: the others complete later (PyTorch #98640)."""
    return _of(_reduced(), _reduced("s", target="u", handle="i"), Wait(id="w", handle="h"))


@violates("waits.C2")
def waited_for_twice() -> Schedule:
    """A handle is waited for a second time after it was given back: the second wait is for somebody else's work."""
    return _of(_reduced(), Wait(id="w", handle="h"), Wait(id="v", handle="h"))


@violates("waits.C3")
def read_under_way() -> Schedule:
    """A cast is taken for a view and does not wait: it converts what is still being summed (PyTorch #152534)."""
    return _of(_reduced(), opaque("cast", reads("y0"), writes("z")), Wait(id="w", handle="h"))


@violates("waits.C4")
def source_overwritten_under_way() -> Schedule:
    """The result area of a send that is still pending is overwritten (jax #40830, torchrec #4231)."""
    return _of(_reduced(), opaque("next", writes("x0")), Wait(id="w", handle="h"))


def _in_place(clone: bool, live: bool) -> Schedule:
    """Return x = a + 1 on each device and the sum of the x, done in place of x or of a clone of it; z = x * 2."""
    nodes: list[Node] = []
    items: list[Item] = []
    place = "c" if clone else "x"
    for d, device in enumerate(DEVICES):
        nodes += [stored(f"a{d}", device=device), constant(f"1{d}", device=device)]
        nodes += [alu(f"x{d}", "add", f"a{d}", f"1{d}", device=device)]
        write = writes(f"x{d}", line(), node=f"x{d}")
        items.append(elementwise(f"x{d}", "add", write, f"a{d}", 1.0, device=device, provenance=(f"x{d}",)))
        if clone:
            into, out_of = writes(f"c{d}", line(), node=f"x{d}"), reads(f"x{d}", line(), node=f"x{d}")
            items.append(elementwise(f"c{d}", "move", into, out_of, device=device))
    for d, device in enumerate(DEVICES):
        nodes.append(node(f"y{d}", "all_reduce", "x0", "x1", device=device, fold="add"))
    own = (
        *(reads(f"{place}{d}", node=f"x{d}") for d in range(2)),
        *(writes(f"{place}{d}", node=f"y{d}") for d in range(2)),
    )
    items.append(
        Collective(id="r", op="all_reduce", attrs={"op": "sum"}, participants=DEVICES, group="g", accesses=own)
    )
    results = ["y0", "y1"]
    if live:
        nodes.append(alu("z", "add", "x0", "x0"))
        again = reads("x0", line(), node="x0")
        items.append(elementwise("z", "add", "z", again, again, provenance=("z",)))
        results.append("z")
    buffers = (*_pairs("a", preexisting=True), *_pairs("x"), *(_pairs("c") if clone else ()), buffer("z"))
    at = {"y0": f"{place}0", "y1": f"{place}1"} | ({"z": "z"} if live else {})
    return schedule(buffers, items, graph(*nodes, results=results), at)


@violates("waits.C5")
def live_source_reduced_in_place() -> Schedule:
    """An all_reduce is done in place of a value that is read again afterwards.

    Seen in Open MPI #2824: the receive overwrites the send buffer.
    """
    return _in_place(clone=False, live=True)


@violates("waits.C6")
def dead_source_cloned() -> Schedule:
    """A value that dies in the collective is cloned for it all the same: twice the memory, and a copy a step."""
    return _in_place(clone=True, live=False)


@violates("waits.C7")
def entered_in_another_order() -> Schedule:
    """Passes that overlap computation and communication swap two collectives on one rank and not on the other.

    Both wait for ever, or one receives the other's data. Seen in XLA #18568.
    """
    first = _reduced(turns=(0, 1), handle=None)
    return _of(first, _reduced("s", target="u", turns=(1, 0), handle=None))


@violates("waits.C7")
def two_groups_entered_in_opposite_orders() -> Schedule:
    """Sums of two groups of the same devices are launched in opposite orders, and each holds up its device.

    NCCL's guide asks for one order over all communicators.
    """
    first = _reduced(turns=(0, 1), handle=None)
    return _of(first, replace(_reduced("s", target="u", turns=(1, 0), handle=None), group="other"))


@violates("waits.C7")
def three_groups_entered_in_a_circle() -> Schedule:
    """Each of three devices sends to the next before it receives: any two agree, and all wait for ever."""
    around = (("d0", "d1"), ("d1", "d2"), ("d2", "d0"))
    items = [
        Collective(id=f"r{n}", op="barrier", participants=devices, group=f"g{n}", turns=(0, 1))
        for n, devices in enumerate(around)
    ]
    return schedule([buffer(f"z{d}", device=f"d{d}") for d in range(3)], items)
