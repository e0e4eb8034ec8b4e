"""Schedules as they should be of what other tests have none of."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from conformance.cases.graph.buffer import Bounds, Device
from conformance.cases.graph.graph import Variable
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
    planned,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.kernel_body import Alu, Body, Constant, Load, Reduce, Store
from conformance.cases.schedule.schedule import Access, Binding, Collective, Kernel, Schedule
from conformance.qualification.violations import violations
from conformance.qualification.violations.fusion import launched
from conformance.qualification.violations.split_sums import long_sum
from tests.cases.schedule.test_vocabulary import looked_up, replayed, staged

A, ONE, DEVICES = stored("a"), constant("1"), ("d0", "d1")


def nothing_done(violation: str) -> Schedule:
    """Return a violation without the item that should not be there."""
    made = next(each for each in violations() if each.name == violation).make()
    assert isinstance(made, Schedule)
    return replace(made, items=(), places=())


def free() -> Schedule:
    """Return y = a + 1 beside what no kernel is for, all of it asked for."""
    nodes = (
        A, ONE, node("e", "buf", arg="e"), node("f", "buf", arg="f"), alu("y", "add", "a", "1"),
        node("same", "copy", "y"), node("there", "copy", "1", device="d1"), node("back", "copy", "there"),
        node("moved", "reshape", "a", arg=None), node("again", "contig", "a"), node("none", "shrink", "a", shape=(0,),
        arg=((0, 0),)), node("bare", "detach", "a"), node("rows", "reshape", "a", shape=(4, 1)),
        node("single", "reduce", "rows", arg=(1,), fold="add"),
    )  # fmt: skip
    item = elementwise("y", "add", writes("y", line(), node="y"), "a", 1.0, provenance=("y",))
    results = [each.id for each in nodes if each.op not in ("buf", "const")]
    buffers = (*given("a"), buffer("e"), buffer("f"), buffer("y"))
    return schedule(buffers, [item], graph(*nodes, results=results), {"y": "y"})


def on_two_devices() -> Schedule:
    """Return two kernels of two devices that are one program."""
    made = next(each for each in violations() if each.name == "one_kernel_compiled_for_each_device").make()
    assert isinstance(made, Schedule)
    return replace(made, items=tuple(replace(each, program="kernel") for each in made.items))  # type: ignore[arg-type]


def forced() -> Schedule:
    """Return a copy that is forced."""
    nodes = (A, node("c", "copy", "a", device="d1", arg=True))
    item = copy("k", "a", writes("c", node="c"), provenance=("c",))
    return schedule((*given("a"), buffer("c", device="d1")), [item], graph(*nodes, results=["c"]), {"c": "c"})


def updated() -> Schedule:
    """Return a <- a + 1."""
    item = elementwise("k", "add", writes("a", line(), node="w"), "a", 1.0, provenance=("s", "w"))
    nodes = (A, ONE, alu("s", "add", "a", "1"), node("w", "assign", "a", "s"))
    return schedule(given("a"), [item], graph(*nodes, results=["w"]))


def symbolic() -> Schedule:
    """Return y = a[:n].sum() with n = 3."""
    taken, kept = (Affine(extents=("n",), strides=(1,)),), (Affine(extents=("n",), strides=(0,)),)
    code = (Load(access=0), Reduce(op="add", of=0, axes=(0,)), Store(access=1, of=1))
    own = (reads("a", taken), writes("y", kept, node="y"))
    bodies = (Body(extents=("n",), instructions=code),)
    item = Kernel(id="k", device="d0", accesses=own, bodies=bodies, variables=(Binding("n", 3),), provenance=("y",))
    part = node("part", "shrink", "a", shape=("n",), arg=((0, "n"),))
    summed = node("y", "reduce", "part", shape=(), arg=(0,), fold="add")
    wanted = graph(A, part, summed, results=["y"], variables={"n": Variable(low=1, high=4, value=3)})
    return schedule((*given("a"), buffer("y", 1)), [item], wanted, {"y": "y"}, variables={"n": Bounds(low=1, high=4)})


def symbolic_sum() -> Schedule:
    """Return the sum over two devices of the first n elements, each device adding what it reads of the other."""
    nodes = [stored(f"x{d}", ("n",), device=at) for d, at in enumerate(DEVICES)]
    nodes += [
        node(f"y{d}", "all_reduce", "x0", "x1", shape=("n",), device=d0, fold="add") for d, d0 in enumerate(DEVICES)
    ]
    shape = ("n",)
    buffers = [buffer(f"x{d}", device=at, preexisting=True, shape=shape) for d, at in enumerate(DEVICES)]
    buffers += [buffer(f"y{d}", device=at, shape=shape) for d, at in enumerate(DEVICES)]
    parts = [
        opaque(f"k{d}", reads("x0"), reads("x1"), writes(f"y{d}", node=f"y{d}"), device=at)
        for d, at in enumerate(DEVICES)
    ]
    item = Collective(id="r", op="all_reduce", participants=DEVICES, group="g", algorithm="naive", parts=tuple(parts))
    names = {f"y{d}": f"y{d}" for d in range(2)}
    return schedule(buffers, [item], graph(*nodes, results=list(names)), names, variables={"n": Bounds(low=1, high=4)})


def given_on(*groups: str) -> Schedule:
    """Return y = a + 1 + 1 + 1 + 1, where the third value has the bytes of the first, as buffers of those groups."""
    chain = [("p", "a", "t0"), ("q", "t0", "t1"), ("r", "t1", "t2"), ("y", "t2", "y")]
    nodes = [A, ONE, *(alu(name, "add", of, "1") for name, of in zip("pqry", "apqr", strict=True))]
    items = [
        elementwise(name, "add", writes(target, line(), node=name), source, 1.0, provenance=(name,))
        for name, source, target in chain
    ]
    arena, *parts = planned(0, 256, 0)
    parts = [replace(part, communication=group) for part, group in zip(parts, groups or ("", "", ""), strict=True)]
    made = schedule((*given("a"), arena, *parts, buffer("y")), items, graph(*nodes, results=["y"]), {"y": "y"})
    # Kernels that take two buffers do not fuse.
    return replace(made, devices={"d0": Device(most_buffers=2)})


def reduced(id: str, target: str, *accesses: Access) -> Collective:
    """Return an all_reduce of x0 and x1 in one opaque call, which both devices enter at one time."""
    own = accesses or tuple(reads(f"x{d}") for d in range(2))
    own += tuple(writes(f"{target}{d}", node=f"{target}{d}") for d in range(2))
    turn = 0 if id == "r" else 1
    return Collective(
        id=id, op="all_reduce", attrs={"op": "sum"}, participants=DEVICES, group="g", accesses=own, turns=(turn, turn)
    )


def met_twice() -> Schedule:
    """Return two sums over two devices, the second in place of a clone of x, which is given."""
    nodes = [stored(f"x{d}", device=at) for d, at in enumerate(DEVICES)]
    for name in "yc":
        nodes += [node(f"{name}{d}", "all_reduce", "x0", "x1", device=at, fold="add") for d, at in enumerate(DEVICES)]
    items = [
        reduced("r", "y"),
        *(elementwise(f"k{d}", "move", f"c{d}", f"x{d}", device=at) for d, at in enumerate(DEVICES)),
        reduced("s", "c", *(reads(f"c{d}", node=f"x{d}") for d in range(2))),
    ]
    buffers = [
        buffer(f"{name}{d}", device=at, preexisting=name == "x") for name in "xyc" for d, at in enumerate(DEVICES)
    ]
    names = [f"{name}{d}" for name in "yc" for d in range(2)]
    return schedule(buffers, items, graph(*nodes, results=names), {name: name for name in names})


def greatest() -> Schedule:
    """Return y = max(a, b)."""
    item = elementwise("y", "max", writes("y", line(), node="y"), "a", "b", provenance=("y",))
    nodes = (A, stored("b"), alu("y", "max", "a", "b"))
    return schedule((*given("a", "b"), buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})


def unknown() -> Schedule:
    """Return y = (a - a) + b, in an integer dtype, by kernels of which nothing is known; the first reads nothing."""
    own = [buffer(name, dtype="int32", preexisting=name != "y") for name in "aby"]
    nodes = [stored(name, dtype="int32") for name in "ab"]
    nodes += [alu("z", "sub", "a", "a", dtype="int32"), alu("y", "add", "z", "b", dtype="int32")]
    items = [
        opaque("z", writes("t", node="z"), provenance=("z",)),
        opaque("y", reads("t"), reads("b"), writes("y", node="y"), provenance=("y",)),
    ]
    return schedule([*own, buffer("t", dtype="int32")], items, graph(*nodes, results=["y"]), {"y": "y"})


def fused() -> Schedule:
    """Return x = -((a + 1) flipped twice), asked for twice, and x + a in a buffer of its own, by two kernels."""
    nodes = (
        A, ONE, alu("s", "add", "a", "1"), node("f", "flip", "s", arg=(0,)), node("g", "flip", "f", arg=(0,)),
        alu("x", "neg", "g"), alu("x again", "neg", "g"), alu("t", "add", "x", "a"), node("c", "contig", "t"),
    )  # fmt: skip
    code = (
        Load(access=0),
        Constant(value=ONE.arg),
        Alu(op="add", of=(0, 1)),
        Alu(op="neg", of=(2,)),
        Store(access=1, of=3),
    )
    own = (reads("a", line()), writes("x", line(), node="x"))
    first = Kernel(id="x", device="d0", accesses=own, bodies=(Body(extents=(4,), instructions=code),),
                   provenance=("s", "f", "g", "x", "x again"))  # fmt: skip
    last = elementwise("c", "add", writes("c", line(), node="c"), "x", "a", provenance=("t", "c"))
    results = {"x": "x", "x again": "x", "c": "c"}
    return schedule(
        (*given("a"), buffer("x"), buffer("c")), [first, last], graph(*nodes, results=list(results)), results
    )


def two_reduces() -> Schedule:
    """Return the maximum of the row sums of a, relu of it, in two kernels."""
    wide = stored("a", (2, 2))
    nodes = (
        wide, node("s", "reduce", "a", shape=(2,), arg=(1,), fold="add"), alu("n", "neg", "s", shape=(2,)),
        node("y", "reduce", "n", shape=(), arg=(0,), fold="max"), alu("z", "abs", "y", shape=()),
    )  # fmt: skip
    square, rows = (Affine(extents=(2, 2), strides=(2, 1)),), (Affine(extents=(2, 2), strides=(1, 0)),)
    one = (Affine(extents=(2,), strides=(0,)),)
    summed = (Load(access=0), Reduce(op="add", of=0, axes=(1,)), Store(access=1, of=1))
    top = (Load(access=0), Alu(op="neg", of=(0,)), Reduce(op="max", of=1, axes=(0,)), Alu(op="abs", of=(2,)),
           Store(access=1, of=3))  # fmt: skip
    items = [
        Kernel(id="s", device="d0", bodies=(Body(extents=(2, 2), instructions=summed),), provenance=("s",),
               accesses=(reads("a", square), writes("s", rows, node="s"))),
        Kernel(id="z", device="d0", bodies=(Body(extents=(2,), instructions=top),), provenance=("n", "y", "z"),
               accesses=(reads("s", line(2)), writes("z", one, node="z"))),
    ]  # fmt: skip
    return schedule((*given("a"), buffer("s", 2), buffer("z", 1)), items, graph(*nodes, results=["z"]), {"z": "z"})


def copied() -> Schedule:
    """Return a + 1 on another device, from an arena of its own, and a view of a."""
    nodes = (A, ONE, alu("s", "add", "a", "1"), node("c", "copy", "s", device="d1"))
    items = [
        elementwise("s", "add", writes("t0", line(), node="s"), "a", 1.0, provenance=("s",)),
        copy("c", "t0", writes("c", node="c"), provenance=("c",)),
    ]
    view = buffer("v", 2, base="a", offset=4)
    buffers = (*given("a"), view, *planned(0, arena=64), buffer("c", device="d1"))
    return schedule(buffers, items, graph(*nodes, results=["c"]), {"c": "c"})


HONEST: dict[str, Callable[[], Schedule]] = {
    "what no kernel is for": free,
    "variable": lambda: nothing_done("kernel_for_a_variable"),
    "assign of what is there": lambda: nothing_done("assigned_to_itself"),
    "assign of what nobody defined": lambda: nothing_done("undefined_assigned"),
    "assign to nothing": lambda: nothing_done("nothing_assigned"),
    "reduce of nothing": lambda: nothing_done("kernel_that_reduces_nothing"),
    "forced copy": forced,
    "update in place": updated,
    "symbolic extent": symbolic,
    "symbolic all_reduce": symbolic_sum,
    "bytes given on": given_on,
    "bytes given on within a communicator": lambda: given_on("g", "h", "g"),
    "two collectives": met_twice,
    "maximum": greatest,
    "kernels of which nothing is known": unknown,
    "reduce in parts": lambda: long_sum("float32"),
    "programs by name": lambda: launched("add", "kernel", "kernel"),
    "one program for two devices": on_two_devices,
    "elements that data choose": lambda: looked_up(clamped=True),
    "staged in local memory": staged,
    "captured and called twice": replayed,
    "what could be one kernel and is": fused,
    "reduce of a reduce": two_reduces,
    "planned beside a copy": copied,
}
