"""Right schedules that nobody's engine is needed for: a table of unusual ways to do a few small graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.elementwise import Binary
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
    tensor,
    writes,
)
from conformance.cases.schedule.index_map import Affine, IndexMap
from conformance.cases.schedule.kernel_body import Alu, Body, Constant, Instruction, Load, Reduce, Store
from conformance.cases.schedule.schedule import Item, Kernel, Place, Schedule, View

DIFFERENCE: Final = graph(stored("a"), stored("b"), alu("y", "sub", "a", "b"), results=["y"])
SHARED: Final = graph(
    stored("a"), stored("b"), alu("x", "neg", "a"), alu("y", "add", "x", "b"), alu("z", "mul", "x", "b"),
    results=["y", "z"],
)  # fmt: skip
ROWS: Final = graph(stored("m", (4, 4)), node("s", "reduce", "m", shape=(4,), arg=(1,), fold="add"), results=["s"])

BACKWARDS: Final = line(4, 3, -1)
SQUARE: Final[IndexMap] = (Affine(extents=(2, 2), strides=(2, 1)),)
BEHIND: Final = line(4, 2)


def by_hand() -> Iterator[tuple[str, Schedule]]:
    """Yield right schedules, each with what is unusual about it."""
    yield from _of_a_difference()
    yield from _of_a_shared_value()
    yield from _of_a_fold()
    yield "a forced copy that is labelled as what is made of it", _forced()


def _of_a_difference() -> Iterator[tuple[str, Schedule]]:
    kernel = elementwise("k", "sub", writes("y", line(), node="y"), "a", "b", provenance=("y",))
    negated = (Load(access=0), Load(access=1), Alu(op="neg", of=(1,)), Alu(op="add", of=(0, 2)), Store(access=2, of=3))
    scaled = (
        Load(access=0), Constant(value=tensor(1)), Alu(op="mul", of=(0, 1)), Load(access=1),
        Alu(op="sub", of=(2, 3)), Store(access=2, of=4),
    )  # fmt: skip
    surplus = (
        Load(access=0), Load(access=1), Load(access=0), Alu(op="add", of=(2, 0)), Alu(op="sub", of=(0, 1)),
        Store(access=2, of=4),
    )  # fmt: skip
    for what, body in (("a negative is added", negated), ("times one", scaled), ("more is loaded", surplus)):
        yield what, _difference(_pointwise(*body))
    for what, at, shape in (("backwards", BACKWARDS, (4,)), ("two axes", SQUARE, (2, 2))):
        into = (writes("y", at, node="y"), reads("a", at), reads("b", at))
        yield what, _difference(elementwise("k", "sub", *into, shape=shape, provenance=("y",)))
    parts = ((3, 0), (1, 3))
    yield "a tail of its own", _difference(*(_part(f"k{start}", count, start) for count, start in parts))
    yield "nobody knows how", _difference(opaque("k", reads("a"), reads("b"), writes("y", node="y")))
    yield (
        "a view that nobody uses",
        _difference(View(id="v", buffer="v"), kernel, more=[buffer("v", 2, base="a", offset=8)]),
    )
    yield "storage that lives on", _difference(kernel, more=[buffer("z", held=True)])
    yield "storage of a communicator", _difference(kernel, more=[buffer("z", communication="g")])
    made: list[Item] = [
        elementwise("k", "sub", writes("t", line(), node="y"), "a", "b", provenance=("y",)),
        copy("c", "t", "y"),
    ]
    yield "computed elsewhere", _difference(*made, more=[buffer("t")])
    near = elementwise("k", "sub", writes("y", line(), node="y"), "u", "b", provenance=("y",))
    yield (
        "by way of another device",
        _difference(
            copy("there", "a", "t"), copy("back", "t", "u"), near, more=[buffer("t", device="d1"), buffer("u")]
        ),
    )
    large = elementwise("k", "sub", writes("y", BEHIND, node="y"), "a", "b", provenance=("y",))
    whole = schedule((*given("a", "b"), buffer("y", 8)), [large], DIFFERENCE)
    yield "in a part of a buffer", replace(whole, places=(Place(node="y", buffer="y", map=BEHIND),))


def _of_a_shared_value() -> Iterator[tuple[str, Schedule]]:
    sum_, product = _anew("y", "add"), _anew("z", "mul")
    yield "computed twice", _shared(sum_, product)
    yield "computed twice, the last one first", _shared(product, sum_)
    yield (
        "kept where a result will be",
        _shared(
            elementwise("x", "neg", writes("y", line(), node="x"), "a", provenance=("x",)),
            elementwise("z", "mul", writes("z", line(), node="z"), "y", "b", provenance=("z",)),
            elementwise("y", "add", writes("y", line(), node="y"), "y", "b", provenance=("y",)),
        ),
    )
    both = (
        Load(access=0), Alu(op="neg", of=(0,)), Load(access=1), Alu(op="add", of=(1, 2)), Store(access=2, of=3),
        Alu(op="mul", of=(1, 2)), Store(access=3, of=5),
    )  # fmt: skip
    into = (reads("a", line()), reads("b", line()), writes("y", line(), node="y"), writes("z", line(), node="z"))
    body = Body(extents=(4,), instructions=both)
    yield (
        "two results of one kernel",
        _shared(Kernel(id="k", device="d0", accesses=into, bodies=(body,), provenance=("x", "y", "z"))),
    )
    apart = tuple(
        Body(extents=(4,), instructions=each) for each in (_negated("add", (0, 1, 2)), _negated("mul", (0, 1, 3)))
    )
    yield (
        "two bodies side by side",
        _shared(Kernel(id="k", device="d0", accesses=into, bodies=apart, provenance=("x", "y", "z"))),
    )


def _of_a_fold() -> Iterator[tuple[str, Schedule]]:
    for what, stride, start in (("forwards", 1, 0), ("from the last", -1, 3)):
        into = (
            reads("m", (Affine(extents=(4, 4), strides=(4, stride), offset=start),)),
            writes("s", (Affine(extents=(4, 4), strides=(1, 0)),), node="s"),
        )
        instructions = (Load(access=0), Reduce(op="add", of=0, axes=(1,)), Store(access=1, of=1))
        body = Body(extents=(4, 4), instructions=instructions)
        kernel = Kernel(id="k", device="d0", accesses=into, bodies=(body,), provenance=("s",))
        yield f"folded {what}", schedule((*given("m", count=16), buffer("s")), [kernel], ROWS, {"s": "s"})


def _forced() -> Schedule:
    """Return the schedule of a forced copy, of which the label names the view of it that is a result."""
    nodes = (
        stored("a"), node("c", "copy", "a", device="d1", arg=True),
        node("v", "reshape", "c", shape=(2, 2), device="d1", arg=(2, 2)),
    )  # fmt: skip
    item = copy("k", "a", writes("y", node="v"), provenance=("c", "v"))
    return schedule((*given("a"), buffer("y", device="d1")), [item], graph(*nodes, results=["v"]), {"v": "y"})


def _difference(*items: Item, more: Sequence[Buffer] = ()) -> Schedule:
    buffers = (*given("a", "b"), buffer("y"), *more)
    return schedule(buffers, items, DIFFERENCE, {"y": "y"})


def _shared(*items: Item) -> Schedule:
    buffers = (*given("a", "b"), buffer("y"), buffer("z"))
    return schedule(buffers, items, SHARED, {"y": "y", "z": "z"})


def _pointwise(*instructions: Instruction) -> Kernel:
    into = (reads("a", line()), reads("b", line()), writes("y", line(), node="y"))
    body = Body(extents=(4,), instructions=instructions)
    return Kernel(id="k", device="d0", accesses=into, bodies=(body,), provenance=("y",))


def _part(name: str, count: int, start: int) -> Kernel:
    """Return the kernel of so many elements from one on."""
    at = line(count, start)
    into = (writes("y", at, node="y"), reads("a", at), reads("b", at))
    return elementwise(name, "sub", *into, shape=(count,), provenance=("y",))


def _negated(op: Binary, at: tuple[int, int, int]) -> tuple[Instruction, ...]:
    """Return what stores ``op`` of the negative of one access and of another, by their numbers."""
    one, other, into = at
    return (
        Load(access=one), Alu(op="neg", of=(0,)), Load(access=other), Alu(op=op, of=(1, 2)), Store(access=into, of=3),
    )  # fmt: skip


def _anew(name: str, op: Binary) -> Kernel:
    """Return the kernel of a result of ``SHARED`` that computes the shared value too."""
    into = (reads("a", line()), reads("b", line()), writes(name, line(), node=name))
    body = Body(extents=(4,), instructions=_negated(op, (0, 1, 2)))
    return Kernel(id=name, device="d0", accesses=into, bodies=(body,), provenance=("x", name))
