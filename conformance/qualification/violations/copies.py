"""Schedules whose copies are wrong, or too many."""

from __future__ import annotations

from typing import Any

from conformance.cases.schedule.builders import (
    alu,
    buffer,
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
from conformance.cases.schedule.schedule import Collective, Copy, Kernel, Schedule
from conformance.qualification.violations.violation import violates

A = stored("a")
HERE, THERE = given("a"), buffer("y", device="d1", output=True)


@violates("copies.C1")
def one_source_for_two_targets() -> Schedule:
    """A copy with two targets: the runtime fills the first and forgets the other."""
    item = Copy(id="k", accesses=(reads("a"), writes("y"), writes("z")))
    return schedule((*HERE, THERE, buffer("z", device="d1", output=True)), [item])


@violates("copies.C2")
def copied_on_one_device() -> Schedule:
    """A copy engine is started for bytes that stay on one device, where a kernel would have fused."""
    return schedule((*HERE, buffer("y", output=True)), [copy("k", "a", "y")])


@violates("copies.C2")
def staged_on_one_device() -> Schedule:
    """A copy to another device goes through a second buffer on the first, which no engine needs to fill."""
    nodes = (A, node("c", "copy", "a", device="d1"))
    items = [copy("stage", "a", "t", provenance=("c",)), copy("k", "t", writes("y", node="c"), provenance=("c",))]
    return schedule((*HERE, buffer("t"), THERE), items, graph(*nodes, results=["c"]), {"c": "y"})


@violates("copies.C3")
def copied_too_short() -> Schedule:
    """The size of a copy is counted in elements of the wrong width: the tail stays as it was."""
    half = reads("a", ranges=((0, 8),))
    return schedule((*HERE, THERE), [copy("k", half, "y")])


@violates("copies.C4")
def strided_source_copied() -> Schedule:
    """A transposed or strided tensor is handed to a copy that knows no strides.

    Seen in tinygrad: a non-contiguous source needs a contiguous kernel on its own device first.
    """
    return schedule((*given("a", count=8), THERE), [copy("k", reads("a", line(4, 0, 2)), "y")])


@violates("copies.C4")
def turned_on_its_way() -> Schedule:
    """A flip is pushed into a copy, which takes bytes from the first to the last and knows nothing of it."""
    nodes = (A, node("f", "flip", "a", arg=(0,)), node("c", "copy", "f", device="d1"))
    item = copy("k", reads("a", line(4, 3, -1)), writes("y", node="c"), provenance=("c",))
    return schedule((*HERE, THERE), [item], graph(*nodes, results=["c"]), {"c": "y"})


@violates("copies.C5")
def whole_copied_for_a_part() -> Schedule:
    """copy(shrink(x)) moves all of x, and shrinks on the other side."""
    nodes = (A, node("v", "shrink", "a", shape=(2,), arg=((0, 2),)), node("c", "copy", "v", shape=(2,), device="d1"))
    item = copy("k", "a", writes("y", node="c"), provenance=("c",))
    return schedule((*HERE, THERE), [item], graph(*nodes, results=["c"]), {"c": "y"})


@violates("copies.C6")
def replica_copied_again() -> Schedule:
    """A replica that is on the device already is fetched again for each of its users."""
    z = buffer("z", device="d1", output=True)
    return schedule((*HERE, THERE, z), [copy("first", "a", "y"), copy("second", "a", "z")])


@violates("copies.C7")
def forced_copy_elided() -> Schedule:
    """The all_gather half of a ring is optimised away as copies of what is there already, so a chunk is never sent."""
    nodes = (A, node("c", "copy", "a", device="d1", arg=True), node("y", "contig", "c", device="d1"))
    item = copy("k", "a", writes("y", node="y"), provenance=("y",))
    return schedule((*HERE, THERE), [item], graph(*nodes, results=["y"]), {"y": "y"})


def _exchange(*edges: tuple[int, int], times: int = 1, labelled: bool = False) -> Schedule:
    """Return a ring over three devices that sends a whole block along each edge, and then adds up what has come.

    A fourth device holds a block, and is not in the ring. Where it is ``labelled`` what is made, the sums read all
    blocks where they lie too.
    """
    devices = ("d0", "d1", "d2")
    sends = [(f"{source}{target}{turn}", source, target) for turn in range(times) for source, target in edges]
    buffers = [buffer(f"x{d}", device=name, preexisting=True) for d, name in enumerate(devices)]
    buffers += [buffer(f"t{send}", device=devices[target]) for send, _, target in sends]
    buffers += [buffer(f"y{d}", device=name) for d, name in enumerate(devices)]
    buffers.append(buffer("x3", device="d3", preexisting=True))
    nodes = [stored(f"x{d}", device=name) for d, name in enumerate((*devices, "d3"))]
    nodes += [node(f"f{send}", "copy", f"x{s}", device=devices[t], arg=True) for send, s, t in sends]
    nodes += [node(f"y{d}", "all_reduce", "x0", "x1", "x2", device=at, fold="add") for d, at in enumerate(devices)]
    copies = [copy(f"send{send}", f"x{s}", f"t{send}", provenance=(f"f{send}",)) for send, s, _ in sends]
    sums = []
    for d, name in enumerate(devices):
        come = [reads(f"t{send}") for send, _, target in sends if target == d]
        blocks = [reads(f"x{d}") for d in range(3)] if labelled else []
        made = writes(f"y{d}", node=f"y{d}" if labelled else None)
        sums.append(opaque(f"sum{d}", *come, *blocks, made, device=name))
    parts: tuple[Copy | Kernel, ...] = (*copies, *sums)
    ring = Collective(id="r", op="all_reduce", participants=devices, group="g", algorithm="ring", parts=parts)
    names = [f"y{d}" for d in range(3)]
    wanted = graph(*nodes, results=names if labelled else [])
    return schedule(buffers, [ring], wanted, {name: name for name in names if labelled})


@violates("copies.C8")
def whole_blocks_around_a_ring() -> Schedule:
    """What is called a ring sends whole blocks where chunks would do: its cost grows with the square of the devices."""
    return _exchange((0, 1), (1, 2), (2, 0), times=4, labelled=True)


@violates("copies.C9")
def ring_against_its_direction() -> Schedule:
    """A ring sends to the neighbour on the wrong side: two sends meet on one link while the other stays idle."""
    return _exchange((1, 0), (2, 1), times=2)


@violates("copies.C9")
def ring_entered_from_outside() -> Schedule:
    """A device that is in no ring sends to the last of one: it was not found, and counted as the last but one."""
    return _exchange((0, 1), (1, 2), (2, 0), (3, 2))


@violates("copies.C12")
def ring_a_copy_short() -> Schedule:
    """A ring has as many copies as devices: the last step of its first half is left out."""
    return _exchange((0, 1), (1, 2), (2, 0))


@violates("copies.C10")
def computed_where_the_operand_was() -> Schedule:
    """A copy to a second device is dropped as one of what is there already, and its user runs on the first device."""
    nodes = (A, node("c", "copy", "a", device="d1"), alu("y", "add", "c", "c", device="d1"))
    item = elementwise("k", "add", "y", "a", "a", provenance=("y",))
    return schedule((*HERE, buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("copies.C10")
def sent_to_another_device() -> Schedule:
    """Devices are counted from the wrong end, so that a value goes to a device that did not ask for it."""
    nodes = (A, node("c", "copy", "a", device="d1"), node("y", "reshape", "c", shape=(2, 2), device="d1"))
    item = copy("k", "a", writes("z", node="c"), provenance=("c",))
    return schedule((*HERE, buffer("z", device="d2")), [item], graph(*nodes, results=["y"]), {"y": "z"})


@violates("copies.C11")
def another_collective_profiled() -> Schedule:
    """A trace calls a broadcast by the operation that was entered before, so that its bytes are counted for another."""
    devices = ("d0", "d1")
    nodes = [stored("x0"), stored("x1", device="d1")]
    met: dict[str, Any] = {"arg": "broadcast", "attrs": {"root": 0}, "members": devices}
    nodes += [node(f"y{d}", "collective", "x0", "x1", device=at, **met) for d, at in enumerate(devices)]
    here = elementwise("k0", "move", writes("y0", line(), node="y0"), "x0", provenance=("y0",))
    there = copy("k1", "x0", writes("y1", node="y1"), provenance=("y1",))
    item = Collective(id="r", op="all_gather", participants=devices, group="g", parts=(here, there))
    buffers = [buffer("x0", preexisting=True), buffer("x1", device="d1", preexisting=True)]
    buffers += [buffer("y0"), buffer("y1", device="d1")]
    return schedule(buffers, [item], graph(*nodes, results=["y0", "y1"]), {"y0": "y0", "y1": "y1"})
