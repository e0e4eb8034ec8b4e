"""Schedules that take from local memory what is not there, from outside an axis, or call what does not fit."""

from __future__ import annotations

from msgspec.structs import replace

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
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.index_map import Affine, IndexMap
from conformance.cases.schedule.kernel_body import Body, Fetch, Load, Store
from conformance.cases.schedule.schedule import Access, Call, Copy, Item, Kernel, Schedule, Sequence
from conformance.qualification.violations.violation import violates

HALVES: IndexMap = (Affine(extents=(2, 2), strides=(2, 1)),)


def _staged(other: IndexMap, *, phase: int = 1, back: IndexMap | None = None) -> Schedule:
    """Return y = a backwards: each half by a group of its own, turned round in local memory."""
    bodies = (
        Body(extents=(2, 2), instructions=(Load(access=0), Store(access=1, of=0)), groups=1),
        Body(extents=(2, 2), instructions=(Load(access=2), Store(access=3, of=0)), groups=1, phase=phase),
    )
    placed = back or (Affine(extents=(2, 2), strides=(-2, 1), offset=2),)
    own = (reads("a", HALVES), writes("tile", HALVES), reads("tile", other), writes("y", placed, node="y"))
    kernel = Kernel(id="k", device="d0", accesses=own, bodies=bodies, provenance=("y",))
    nodes = (stored("a"), node("f", "flip", "a", arg=(0,)), node("y", "contig", "f"))
    buffers = (*given("a"), buffer("tile", local=True), buffer("y"))
    return schedule(buffers, [kernel], graph(*nodes, results=["y"]), {"y": "y"})


TURNED: IndexMap = (Affine(extents=(2, 2), strides=(2, -1), offset=1),)


@violates("staging.C1")
def barrier_left_out() -> Schedule:
    """A tile is read while other points of the group still write it: the barrier was taken for needless."""
    return _staged(TURNED, phase=0)


@violates("staging.C2")
def tile_of_another_group() -> Schedule:
    """A group reads the tile of its neighbour, for which no barrier waits."""
    crossed: IndexMap = (Affine(extents=(2, 2), strides=(-2, -1), offset=3),)
    straight: IndexMap = (Affine(extents=(2, 2), strides=(2, 1)),)
    return _staged(crossed, back=straight)


@violates("staging.C3")
def local_memory_of_two_kernels() -> Schedule:
    """A second kernel reads what the first one left in local memory, which is gone by then."""
    made = _staged(TURNED)
    read = Kernel(
        id="late", device="d0", accesses=(reads("tile", line()), writes("y2", line())),
        bodies=(Body(extents=(4,), instructions=(Load(access=0), Store(access=1, of=0))),
                ),
    )  # fmt: skip
    first = made.items[0]
    assert isinstance(first, Kernel)
    spill = replace(
        read,
        bodies=(
            Body(extents=(4,), instructions=(Load(access=0), Store(access=1, of=0))),
            Body(extents=(4,), instructions=(Load(access=2), Store(access=3, of=0)), phase=1),
        ),
        accesses=(reads("a", line()), writes("tile", line()), reads("tile", line()), writes("y2", line())),
    )
    return replace(made, items=(first, spill), buffers=(*made.buffers, buffer("y2", output=True)))


@violates("bodies.C7")
def index_not_clamped() -> Schedule:
    """An element is taken where an index says, whatever the index is: what lies beyond the table is read."""
    table: IndexMap = (Affine(extents=(3, 4), strides=(0, 1)),)
    code = (Load(access=0), Fetch(access=1, at=(0,)), Store(access=2, of=1))
    own = (reads("i", line(3)), reads("a", table), writes("y", line(3), node="y"))
    kernel = Kernel(id="k", device="d0", accesses=own, provenance=("y",),
                    bodies=(Body(extents=(3,), instructions=code),))  # fmt: skip
    nodes = (stored("a"), stored("i", (3,), dtype="int32"), node("y", "gather", "a", "i", shape=(3,), arg=0))
    buffers = (*given("a"), buffer("i", 3, "int32", preexisting=True), buffer("y", 3))
    return schedule(buffers, [kernel], graph(*nodes, results=["y"]), {"y": "y"})


@violates("bodies.C8")
def dead_axis() -> Schedule:
    """A kernel runs over an axis that nothing in it depends on, and computes each element twice."""
    shown: IndexMap = (Affine(extents=(4, 2), strides=(1, 0)),)
    own = (reads("a", shown), writes("y", shown))
    kernel = Kernel(id="k", device="d0", accesses=own,
                    bodies=(Body(extents=(4, 2), instructions=(Load(access=0), Store(access=1, of=0))),))  # fmt: skip
    return schedule((*given("a"), buffer("y", output=True)), [kernel])


def _replayed(second: tuple[str, ...], *, program: Sequence | None = None) -> Schedule:
    """Return y = a + 1, and once more on other buffers."""
    inner = elementwise("add", "add", writes("out", line()), "in", 1.0)
    captured = program or Sequence(parameters=2, buffers=(buffer("in"), buffer("out")), items=(inner,))
    calls = [
        Call(id="first", sequence="f", buffers=("a", "y")),
        Call(id="second", sequence="f", buffers=second),
    ]
    made = schedule((*given("a", "b"), buffer("y", output=True), buffer("z", output=True)), calls)
    return replace(made, sequences={"f": captured})


@violates("form.C12")
def replayed_with_a_buffer_too_few() -> Schedule:
    """A captured graph is replayed with the buffers of another one, which has one fewer."""
    return _replayed(("b",))


@violates("form.C12")
def captured_buffer_of_the_first_run() -> Schedule:
    """What was captured names a buffer of the run that it was captured in, and every replay writes that one."""
    inner = elementwise("add", "add", writes("y", line()), "in", 1.0)
    return _replayed(("b", "z"), program=Sequence(parameters=1, buffers=(buffer("in"),), items=(inner,)))


@violates("replays.C1")
def replayed_in_place() -> Schedule:
    """A captured graph is replayed with one buffer for two parameters, and was captured with two that are apart."""
    return _replayed(("b", "b"))


@violates("law.C1")
def replayed_on_the_first_buffers() -> Schedule:
    """The second call of a captured graph reads what the first was given: its input was not exchanged."""
    made = _replayed(("a", "z"))
    nodes = (stored("a"), stored("b"), constant("1"), alu("y", "add", "a", "1"), alu("z", "add", "b", "1"))
    asked = graph(*nodes, results=["y", "z"])
    return replace(made, graph=asked, places=schedule((), (), asked, {"y": "y", "z": "z"}).places)


def _copied() -> Schedule:
    arena, first, second = planned(0, 256)
    items: list[Item] = [
        elementwise("k0", "add", "t0", "a", 1.0),
        Copy(id="send", accesses=(Access(buffer="t0"), Access(buffer="w", write=True))),
        elementwise("k1", "mul", "t1", "a", 2.0),
        elementwise("k2", "add", "y", "t1", 1.0),
    ]
    others = (buffer("w", device="d1", output=True), buffer("y", output=True))
    return schedule((*given("a"), arena, first, second, *others), items)


@violates("memory.C11")
def copied_beside_what_is_not() -> Schedule:
    """What a copy reads shares an arena with what kernels alone use, so that either waits for the other's last use."""
    return _copied()


@violates("memory.C12")
def view_of_a_view() -> Schedule:
    """A view is kept as a part of another view, so that its place is found by walking a chain."""
    first = buffer("v", 3, base="a", offset=4)
    second = buffer("w", 2, base="v", offset=4, output=True)
    return schedule((*given("a"), first, second), [])


@violates("order.C10")
def computed_for_nobody_when_listed() -> tuple[Schedule, Schedule]:
    """A tensor that is dropped before anything is asked of it is computed all the same."""
    item = elementwise("y", "add", writes("y", line()), "a", 1.0)
    more = elementwise("d", "neg", writes("d", line()), "y")
    buffers = (*given("a"), buffer("y", output=True))
    return schedule(buffers, [item]), schedule((*buffers, buffer("d")), [item, more])
