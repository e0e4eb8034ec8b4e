"""What is kept although nothing moves, in whatever parts it is made or taken."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

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
from conformance.cases.schedule.index_map import Affine, IndexMap
from conformance.cases.schedule.kernel_body import Body, Load, Reduce, Store
from conformance.cases.schedule.schedule import Access, Collective, Copy, Kernel, Schedule
from conformance.reference.schedule.facts import Facts
from conformance.specs.schedules import judge
from conformance.specs.schedules.copies import same_meeting

A, NINE = stored("a"), constant("9", 9)


def before_an_assign(op: str) -> Schedule:
    """Return y = a.op(); a <- 9, where y has a buffer of its own."""
    nodes = (A, NINE, node("y", op, "a"), node("w", "assign", "a", "9"))
    items = [
        elementwise("y", "move", writes("y", line(), node="y"), "a", provenance=("y",)),
        elementwise("w", "move", writes("a", line(), node="w"), 9.0, provenance=("w",)),
    ]
    return schedule((*given("a"), buffer("y")), items, graph(*nodes, results=["w", "y"]), {"y": "y"})


def there_and_back() -> Schedule:
    """Return t = a on d1; a <- 9; y = t on d0, copied back."""
    nodes = (A, NINE, node("t", "copy", "a", device="d1"), node("w", "assign", "a", "9"), node("y", "copy", "t"))
    items: list[Copy | Kernel] = [
        copy("there", "a", writes("t", node="t"), provenance=("t",)),
        elementwise("w", "move", writes("a", line(), node="w"), 9.0, provenance=("w",)),
        copy("back", "t", writes("y", node="y"), provenance=("y",)),
    ]
    buffers = (*given("a"), buffer("t", device="d1"), buffer("y"))
    return schedule(buffers, items, graph(*nodes, results=["w", "y"]), {"y": "y"})


def forced_constant(*, made: bool) -> Schedule:
    """Return a constant whose copy to d1 is forced."""
    nodes = (NINE, node("y", "copy", "9", device="d1", arg=True))
    items = [elementwise("f", "move", "t", 9.0), copy("k", "t", writes("y", node="y"), provenance=("y",))]
    buffers = (buffer("t"), buffer("y", device="d1"))
    wanted = graph(*nodes, results=["y"])
    return schedule(buffers, items, wanted, {"y": "y"}) if made else schedule((), [], wanted)


def flip_of_equal_rows() -> Schedule:
    """Return a forced copy of the flip of -a, written out along a new axis: what is stored is flipped already."""
    rows: IndexMap = (Affine(extents=(3, 2), strides=(0, 1)),)
    nodes = (
        stored("a", (1, 2)), alu("s", "neg", "a", shape=(1, 2)), node("e", "expand", "s", shape=(3, 2)),
        node("f", "flip", "e", shape=(3, 2), arg=(0,)), node("y", "copy", "f", shape=(3, 2), arg=True),
    )  # fmt: skip
    square: IndexMap = (Affine(extents=(3, 2), strides=(2, 1)),)
    items = [
        elementwise("e", "neg", writes("e", square, node="e"), reads("a", rows), shape=(3, 2), provenance=("s", "e")),
        copy("y", "e", writes("y", node="y"), provenance=("y",)),
    ]
    buffers = (buffer("a", 2, preexisting=True), buffer("e", 6), buffer("y", 6))
    return schedule(buffers, items, graph(*nodes, results=["y"]), {"y": "y"})


def part_times_one() -> Schedule:
    """Return s = a + 1 and the first half of it times 1, reshaped, in a buffer of its own: s may be freed before it."""
    one, half = constant("1", shape=(2,)), node("h", "shrink", "s", shape=(2,), arg=((0, 2),))
    nodes = (A, constant("o"), one, alu("s", "add", "a", "o"), half, alu("m", "mul", "h", "1", shape=(2,)),
             node("r", "reshape", "m", shape=(2, 1)))  # fmt: skip
    items = [
        elementwise("s", "add", writes("s", line(), node="s"), "a", 1.0, provenance=("s",)),
        elementwise("k", "move", writes("r", line(2), node="r"), reads("s", line(2)), shape=(2,), provenance=("r",)),
    ]
    buffers = (*given("a"), buffer("s"), buffer("r", 2))
    return schedule(buffers, items, graph(*nodes, results=["s", "r"]), {"s": "s", "r": "r"})


def split_reduce() -> Schedule:
    """Return the sum of 4 elements, first in pairs and then of the pairs."""

    def summed(id: str, read: Access, write: Access, *extents: int) -> Kernel:
        code = (Load(access=0), Reduce(op="add", of=0, axes=(len(extents) - 1,)), Store(access=1, of=1))
        body = Body(extents=extents, instructions=code)
        return Kernel(id=id, device="d0", accesses=(read, write), bodies=(body,), provenance=("s",))

    pairs: IndexMap = (Affine(extents=(2, 2), strides=(2, 1)),)
    first: IndexMap = (Affine(extents=(2, 2), strides=(1, 0)),)
    items = [
        summed("pairs", reads("a", pairs), writes("t", first), 2, 2),
        summed("s", reads("t", line(2)), writes("s", line(2, 0, 0), node="s"), 2),
    ]
    nodes = (A, node("s", "reduce", "a", shape=(), arg=(0,), fold="add"))
    return schedule((*given("a"), buffer("t", 2), buffer("s", 1)), items, graph(*nodes, results=["s"]), {"s": "s"})


def collective_of_bytes(op: str, attrs: dict[str, str | int], *taken: tuple[tuple[int, int], ...]) -> Schedule:
    """Return a collective of the first halves of x0 and x1, of which it takes those bytes."""
    devices = ("d0", "d1")
    buffers = [buffer(f"x{d}", 8, device=at, preexisting=True) for d, at in enumerate(devices)]
    buffers += [buffer(f"y{d}", device=at) for d, at in enumerate(devices)]
    nodes = [stored(f"x{d}", (8,), device=at) for d, at in enumerate(devices)]
    nodes += [node(f"v{d}", "shrink", f"x{d}", arg=((0, 4),), device=at) for d, at in enumerate(devices)]
    nodes += [
        node(f"y{d}", "collective", "v0", "v1", device=at, arg=op, attrs=attrs, members=devices)
        for d, at in enumerate(devices)
    ]
    own = [reads(f"x{d}", ranges=ranges) for d, ranges in enumerate(taken)]
    own += [writes(f"y{d}", node=f"y{d}") for d in range(2)]
    item = Collective(id="r", op=op, attrs=attrs, participants=devices, group="g", accesses=tuple(own))
    return schedule(buffers, [item], graph(*nodes, results=["y0", "y1"]), {"y0": "y0", "y1": "y1"})


def broadcast_of_a_forced_copy() -> Schedule:
    """Return a broadcast of x0 and x1, each copied by force, that makes the copy of its root's only."""
    devices = ("d0", "d1")
    nodes = [stored(f"x{d}", device=at) for d, at in enumerate(devices)]
    nodes += [node(f"c{d}", "copy", f"x{d}", arg=True, device=at) for d, at in enumerate(devices)]
    met = {"arg": "broadcast", "attrs": {"root": 0}, "members": devices}
    nodes += [node(f"y{d}", "collective", "c0", "c1", device=at, **met) for d, at in enumerate(devices)]
    own = (reads("c0", node="c0"), *(writes(f"y{d}", node=f"y{d}") for d in range(2)))
    items = [
        copy("c0", "x0", writes("c0", node="c0"), provenance=("c0",)),
        Collective(id="r", op="broadcast", attrs={"root": 0}, participants=devices, group="g", accesses=own),
    ]
    buffers = (*given("x0"), *given("x1", device="d1"), buffer("c0"), buffer("y0"), buffer("y1", device="d1"))
    return schedule(buffers, items, graph(*nodes, results=["y0", "y1"]), {"y0": "y0", "y1": "y1"})


def cloned() -> Schedule:
    """Return s = (a + 1).contig and y = s * s, where y has a clone of s that is labelled as s."""
    nodes = (A, constant("1"), alu("t", "add", "a", "1"), node("s", "contig", "t"), alu("y", "mul", "s", "s"))
    items = [
        elementwise("s", "add", writes("s", line(), node="s"), "a", 1.0, provenance=("t", "s")),
        elementwise("clone", "move", writes("u", line(), node="s"), "s", provenance=("s",)),
        elementwise("y", "mul", "y", "u", "u", provenance=("y",)),
    ]
    buffers = (*given("a"), *(buffer(name) for name in ("s", "u", "y")))
    return schedule(buffers, items, graph(*nodes, results=["s", "y"]), {"s": "s", "y": "y"})


def made_again_after_a_collective() -> Schedule:
    """Return s = x + 1 on two devices, the sum of both in place, and z = s * s on d0 of an s that is made again."""
    devices = ("d0", "d1")
    nodes = [stored(f"x{d}", device=at) for d, at in enumerate(devices)]
    nodes += [constant(f"1{d}", device=at) for d, at in enumerate(devices)]
    nodes += [alu(f"s{d}", "add", f"x{d}", f"1{d}", device=at) for d, at in enumerate(devices)]
    nodes += [node(f"y{d}", "all_reduce", "s0", "s1", device=at, fold="add") for d, at in enumerate(devices)]
    own = [reads(f"t{d}", node=f"s{d}") for d in range(2)] + [writes(f"t{d}", node=f"y{d}") for d in range(2)]
    again = reads("t0", line(), node="s0")
    items = [
        *(elementwise(f"s{d}", "add", f"t{d}", f"x{d}", 1.0, device=at) for d, at in enumerate(devices)),
        Collective(id="r", op="all_reduce", attrs={"op": "sum"}, participants=devices, group="g", accesses=tuple(own)),
        elementwise("keep", "move", "y0", "t0"),
        elementwise("again", "add", "t0", "x0", 1.0),
        elementwise("z", "mul", "z", again, again),
    ]
    buffers = [*given("x0"), *given("x1", device="d1"), buffer("t0"), buffer("t1", device="d1")]
    buffers += [buffer("y0"), buffer("z")]
    wanted = graph(*nodes, alu("z", "mul", "s0", "s0"), results=["y0", "y1", "z"])
    return schedule(buffers, items, wanted, {"y0": "y0", "y1": "t1", "z": "z"})


LEGAL: dict[str, Callable[[], Schedule]] = {
    "flip of equal rows": flip_of_equal_rows,
    "contig before an assign": lambda: before_an_assign("contig"),
    "copy before an assign": lambda: before_an_assign("copy"),
    "there, assigned to, and back": there_and_back,
    "forced copy of a constant": lambda: forced_constant(made=True),
    "forced copy of a constant, left out": lambda: forced_constant(made=False),
    "forced copy that no member reads, left out": broadcast_of_a_forced_copy,
    "part of a value, times 1": part_times_one,
    "split reduce": split_reduce,
    "clone": cloned,
    "made again after a collective": made_again_after_a_collective,
    "collective of byte ranges": lambda: collective_of_bytes(
        "all_reduce", {"op": "sum"}, ((0, 16),), ((0, 8), (8, 16))
    ),
    "broadcast of the root's bytes": lambda: collective_of_bytes("broadcast", {"root": 0}, ((0, 16),)),
}


@pytest.mark.parametrize("name", LEGAL)
def test_nothing_is_broken(name: str) -> None:
    found = {each.clause: each for each in judge(LEGAL[name]())}
    assert [each for each in found.values() if each.finding == "broken"] == []
    assert found["law.C1"].finding == "held"


def test_a_copy_that_is_labelled_as_forced_needs_no_provenance() -> None:
    nodes = (A, node("c", "copy", "a", device="d1"), node("d", "copy", "a", device="d1", arg=True))
    items = [copy("k", "a", writes("c", node="c")), copy("l", "a", writes("d", node="d"))]
    buffers = (*given("a"), buffer("c", device="d1"), buffer("d", device="d1"))
    made = schedule(buffers, items, graph(*nodes, results=["c", "d"]), {"c": "c", "d": "d"})
    assert [each for each in judge(made) if each.finding == "broken"] == []


@pytest.mark.parametrize(
    ("op", "word", "members", "right"),
    [
        ("broadcast", "broadcast", ("d0", "d1"), True),
        ("send", "permute", ("d0", "d1"), True),
        ("broadcast", "permute", ("d0", "d1"), False),
        ("broadcast", "broadcast", ("d1", "d0"), False),
    ],
)
def test_copies_c11_holds_a_collective_to_its_node(op: str, word: str, members: tuple[str, ...], right: bool) -> None:
    made = broadcast_of_a_forced_copy()
    first, met = made.items
    assert isinstance(met, Collective)
    assert made.graph is not None
    nodes = [replace(each, arg=word) if each.op == "collective" else each for each in made.graph.nodes]
    item = replace(met, op=op, participants=members)
    facts = Facts(replace(made, items=(first, item), graph=graph(*nodes, results=["y0", "y1"])))
    assert (same_meeting(facts) is None) == right
