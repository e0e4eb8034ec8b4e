"""Schedules with a kernel too many, a kernel too large, or a value computed more often than once."""

from __future__ import annotations

from msgspec.structs import replace

from conformance.cases.graph.graph import Node
from conformance.cases.schedule.builders import (
    alu,
    buffer,
    constant,
    elementwise,
    given,
    graph,
    line,
    node,
    reads,
    schedule,
    stored,
    tensor,
    writes,
)
from conformance.cases.schedule.index_map import Affine, IndexMap
from conformance.cases.schedule.kernel_body import Alu, Body, Constant, Instruction, Load, Reduce, Store
from conformance.cases.schedule.schedule import Access, Kernel, Schedule
from conformance.qualification.violations.violation import violates

A, B, ONE = stored("a"), stored("b"), constant("1")
ALL: IndexMap = (Affine(extents=(4,), strides=(0,)),)


def _sum(id: str, source: Access | str, target: str, name: str | None = None, **rest: object) -> Kernel:
    """Return the kernel of the sum of four elements."""
    body = Body(extents=(4,), instructions=(Load(access=0), Reduce(op="add", of=0, axes=(0,)), Store(access=1, of=1)))
    read = reads(source, line()) if isinstance(source, str) else source
    own = (read, writes(target, ALL, node=name or target))
    return replace(Kernel(id=id, device="d0", accesses=own, bodies=(body,), provenance=(name or target,)), **rest)


def _kernel(name: str, op: str, *sources: str | float) -> Kernel:
    """Return the elementwise kernel of a node into a buffer of its name."""
    return elementwise(name, op, writes(name, line(), node=name), *sources, provenance=(name,))


@violates("fusion.C1")
def sum_of_three_in_two_kernels() -> Schedule:
    """(a + b) + c is two kernels, with a + b written to memory between them."""
    nodes = (A, B, stored("c"), alu("t", "add", "a", "b"), alu("y", "add", "t", "c"))
    items = [_kernel("t", "add", "a", "b"), _kernel("y", "add", "t", "c")]
    return schedule((*given("a", "b", "c"), buffer("t"), buffer("y")), items, graph(*nodes, results=["y"]), {"y": "y"})


def _summed() -> Node:
    return node("s", "reduce", "t", shape=(), arg=(0,), fold="add")


@violates("fusion.C2")
def product_kept_for_its_sum() -> Schedule:
    """(a * b).sum() writes the product to memory: a dot product of two vectors moves twice as many bytes."""
    nodes = (A, B, alu("t", "mul", "a", "b"), _summed())
    items = [_kernel("t", "mul", "a", "b"), _sum("k", "t", "s")]
    buffers = (*given("a", "b"), buffer("t"), buffer("s", 1))
    return schedule(buffers, items, graph(*nodes, results=["s"]), {"s": "s"})


@violates("fusion.C3")
def activation_behind_a_sum() -> Schedule:
    """Relu of a sum is a kernel of its own."""
    zero = constant("0", 0, shape=())
    nodes = (A, node("t", "reduce", "a", shape=(), arg=(0,), fold="add"), zero, alu("y", "max", "t", "0", shape=()))
    point: IndexMap = (Affine(extents=(), strides=()),)
    body = Body(
        extents=(),
        instructions=(Load(access=0), Constant(value=tensor(0)), Alu(op="max", of=(0, 1)), Store(access=1, of=2)),
    )
    own = (reads("t", point), writes("y", point, node="y"))
    relu = Kernel(id="y", device="d0", accesses=own, bodies=(body,), provenance=("y",))
    buffers = (*given("a"), buffer("t", 1), buffer("y", 1))
    return schedule(buffers, [_sum("k", "a", "t"), relu], graph(*nodes, results=["y"]), {"y": "y"})


@violates("fusion.C4")
def mean_evaluated_at_each_element() -> Schedule:
    """A - a.sum() is one kernel that sums the whole vector anew for every element: a square of the work."""
    every: IndexMap = (Affine(extents=(4, 4), strides=(1, 0)),)
    summed: IndexMap = (Affine(extents=(4, 4), strides=(0, 1)),)
    code = (Load(access=0), Load(access=1), Reduce(op="add", of=1, axes=(1,)), Alu(op="sub", of=(0, 2)))
    body = Body(extents=(4, 4), instructions=(*code, Store(access=2, of=3)))
    own = (reads("a", every), reads("a", summed), writes("y", every, node="y"))
    item = Kernel(id="k", device="d0", accesses=own, bodies=(body,), provenance=("s", "y"))
    nodes = (
        A,
        node("s", "reduce", "a", shape=(), arg=(0,), fold="add"),
        node("r", "reshape", "s", shape=(1,)),
        node("e", "expand", "r"),
        alu("y", "sub", "a", "e"),
    )
    return schedule((*given("a"), buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("fusion.C5")
def two_reduces_in_three_kernels() -> Schedule:
    """A sum of rows, its negation and the maximum of that: each is a kernel, in a device that takes few buffers."""
    wide = stored("a", (2, 2))
    nodes = (
        wide,
        node("s", "reduce", "a", shape=(2,), arg=(1,), fold="add"),
        alu("t", "neg", "s", shape=(2,)),
        node("y", "reduce", "t", shape=(), arg=(0,), fold="max"),
    )
    rows = Body(extents=(2, 2), instructions=(Load(access=0), Reduce(op="add", of=0, axes=(1,)), Store(access=1, of=1)))
    top = Body(extents=(2,), instructions=(Load(access=0), Reduce(op="max", of=0, axes=(0,)), Store(access=1, of=1)))
    square: IndexMap = (Affine(extents=(2, 2), strides=(2, 1)),)
    kept: IndexMap = (Affine(extents=(2, 2), strides=(1, 0)),)
    one: IndexMap = (Affine(extents=(2,), strides=(0,)),)
    items = [
        Kernel(id="k0", device="d0", accesses=(reads("a", square), writes("s", kept, node="s")), bodies=(rows,),
               provenance=("s",)),
        elementwise("k1", "neg", writes("t", line(2), node="t"), reads("s", line(2)), shape=(2,), provenance=("t",)),
        Kernel(id="k2", device="d0", accesses=(reads("t", line(2)), writes("y", one, node="y")), bodies=(top,),
               provenance=("y",)),
    ]  # fmt: skip
    made = schedule(
        (*given("a"), buffer("s", 2), buffer("t", 2), buffer("y", 1)), items, graph(*nodes, results=["y"]), {"y": "y"}
    )
    return _taking(made, 2)


def _taking(made: Schedule, most: int) -> Schedule:
    return replace(made, devices={name: replace(each, most_buffers=most) for name, each in made.devices.items()})


@violates("fusion.C6")
def barrier_fused_away() -> Schedule:
    """What the user asked to be kept, so that it is computed once, is fused into the kernel that takes it."""
    nodes = (A, B, alu("s", "add", "a", "b"), node("c", "contig", "s"), alu("y", "mul", "c", "a"))
    code = (Load(access=0), Load(access=1), Alu(op="add", of=(0, 1)), Alu(op="mul", of=(2, 0)), Store(access=2, of=3))
    own = (reads("a", line()), reads("b", line()), writes("y", line(), node="y"))
    item = Kernel(id="k", device="d0", accesses=own, provenance=("s", "c", "y"),
                  bodies=(Body(extents=(4,), instructions=code),))  # fmt: skip
    return schedule((*given("a", "b"), buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("fusion.C7")
def more_buffers_than_the_device_takes() -> Schedule:
    """A sum of three buffers is fused into one kernel with four arguments, on a device whose kernels take three."""
    nodes = (A, B, stored("c"), alu("t", "add", "a", "b"), alu("y", "add", "t", "c"))
    loads = tuple(Load(access=n) for n in range(3))
    adds = (Alu(op="add", of=(0, 1)), Alu(op="add", of=(3, 2)))
    code: tuple[Instruction, ...] = (*loads, *adds, Store(access=3, of=4))
    own = (*(reads(name, line()) for name in "abc"), writes("y", line(), node="y"))
    item = Kernel(id="k", device="d0", accesses=own, provenance=("t", "y"),
                  bodies=(Body(extents=(4,), instructions=code),))  # fmt: skip
    made = schedule((*given("a", "b", "c"), buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})
    return _taking(made, 3)


@violates("fusion.C8")
def costly_value_computed_for_each() -> Schedule:
    """A sum of four buffers is computed anew by each of the two kernels that take it."""
    names = "abcd"
    nodes = [*(stored(name) for name in names), alu("p", "add", "a", "b"), alu("q", "add", "c", "d")]
    nodes += [alu("t", "add", "p", "q"), alu("x", "neg", "t"), alu("y", "abs", "t")]

    def kernel(id: str, op: str) -> Kernel:
        code: list[Instruction] = [Load(access=n) for n in range(4)]
        code += [Alu(op="add", of=(0, 1)), Alu(op="add", of=(2, 3)), Alu(op="add", of=(4, 5))]
        code += [Alu(op=op, of=(6,)), Store(access=4, of=7)]  # type: ignore[arg-type]  # a word of ``Alu``
        own = (*(reads(name, line()) for name in names), writes(id, line(), node=id))
        return Kernel(id=id, device="d0", accesses=own, provenance=("p", "q", "t", id),
                      bodies=(Body(extents=(4,), instructions=tuple(code)),))  # fmt: skip

    items = [kernel("x", "neg"), kernel("y", "abs")]
    buffers = (*given(*names), buffer("x"), buffer("y"))
    return schedule(buffers, items, graph(*nodes, results=["x", "y"]), {"x": "x", "y": "y"})


@violates("fusion.C9")
def update_by_way_of_another_buffer() -> Schedule:
    """A <- a + 1 computes into a temporary and copies back, although every element needs itself alone."""
    nodes = (A, ONE, alu("t", "add", "a", "1"), node("w", "assign", "a", "t"))
    back = elementwise("k", "move", writes("a", line(), node="w"), "t", provenance=("w",))
    items = [_kernel("t", "add", "a", 1.0), back]
    return schedule((*given("a"), buffer("t")), items, graph(*nodes, results=["w"]))


@violates("movement.C1")
def reshape_as_a_kernel() -> Schedule:
    """A reshape of a computed value, which is kept, is a kernel that stores the same bytes once more."""
    nodes = (A, ONE, alu("s", "add", "a", "1"), node("r", "reshape", "s", shape=(2, 2)))
    again = elementwise("k", "move", writes("r", line(), node="r"), "s", provenance=("r",))
    buffers = (*given("a"), buffer("s"), buffer("r"))
    return schedule(buffers, [_kernel("s", "add", "a", 1.0), again], graph(*nodes, results=["s", "r"]),
                    {"s": "s", "r": "r"})  # fmt: skip


def _turned(*nodes: Node, last: str, kept: IndexMap) -> Schedule:
    """Return the schedule of four elements, one added, in which a flip of rows is stored as f before it is used."""
    one, square = (constant("1", shape=(2, 2)), (Affine(extents=(2, 2), strides=(2, 1)),))
    rows: IndexMap = (Affine(extents=(2, 2), strides=(-2, 1), offset=2),)
    wide = stored("a", (2, 2))
    every = (wide, one, alu("s", "add", "a", "1", shape=(2, 2)), node("f", "flip", "s", shape=(2, 2), arg=(0,)), *nodes)
    plus = elementwise("s", "add", writes("s", square, node="s"), reads("a", square), 1.0, shape=(2, 2),
                       provenance=("s",))  # fmt: skip
    turned = elementwise("f", "move", writes("f", square, node="f"), reads("s", rows), shape=(2, 2), provenance=("f",))
    final = elementwise("y", last, writes("y", square, node="y"), reads("f", kept), shape=(2, 2),
                        provenance=tuple(each.id for each in nodes))  # fmt: skip
    buffers = (*given("a"), buffer("s"), buffer("f"), buffer("y"))
    return schedule(buffers, [plus, turned, final], graph(*every, results=["s", "y"]), {"s": "s", "y": "y"})


@violates("movement.C2")
def movement_of_movement_by_way_of_memory() -> Schedule:
    """A flip is written to memory for the permute of it, which alone takes it."""
    columns: IndexMap = (Affine(extents=(2, 2), strides=(1, 2)),)
    turned = node("p", "permute", "f", shape=(2, 2), arg=(1, 0))
    return _turned(turned, alu("y", "neg", "p", shape=(2, 2)), last="neg", kept=columns)


@violates("movement.C3")
def movement_as_a_kernel() -> Schedule:
    """A flip of a sum is a kernel of its own, before the one that takes it."""
    square: IndexMap = (Affine(extents=(2, 2), strides=(2, 1)),)
    return _turned(alu("y", "neg", "f", shape=(2, 2)), last="neg", kept=square)


@violates("movement.C2")
def expand_stored_for_another_expand() -> Schedule:
    """Of an expand of an expand the inner one is written to memory, in as many copies as it has."""
    nodes = (
        stored("a", (1, 1)), alu("s", "neg", "a", shape=(1, 1)), node("e", "expand", "s", shape=(2, 1)),
        node("f", "expand", "e", shape=(2, 2)), alu("y", "abs", "f", shape=(2, 2)),
    )  # fmt: skip
    one: IndexMap = (Affine(extents=(2,), strides=(0,)),)
    wide: IndexMap = (Affine(extents=(2, 2), strides=(1, 0)),)
    square: IndexMap = (Affine(extents=(2, 2), strides=(2, 1)),)
    items = [
        elementwise("s", "neg", writes("s", line(1), node="s"), reads("a", line(1)), shape=(1,), provenance=("s",)),
        elementwise("e", "move", writes("e", line(2), node="e"), reads("s", one), shape=(2,), provenance=("e",)),
        elementwise("y", "abs", writes("y", square, node="y"), reads("e", wide), shape=(2, 2),
                    provenance=("f", "y")),
    ]  # fmt: skip
    buffers = (*given("a", count=1), buffer("s", 1), buffer("e", 2), buffer("y"))
    return schedule(buffers, items, graph(*nodes, results=["s", "y"]), {"s": "s", "y": "y"})


@violates("dedup.C1")
def one_sum_stored_twice() -> Schedule:
    """A + b is asked for twice, and is computed twice: nodes are compared by identity and not by what they are."""
    nodes = (A, B, alu("x", "add", "a", "b"), alu("y", "add", "a", "b"))
    buffers = (*given("a", "b"), buffer("x"), buffer("y"))
    items = [_kernel(name, "add", "a", "b") for name in "xy"]
    return schedule(buffers, items, graph(*nodes, results=["x", "y"]), {"x": "x", "y": "y"})


def launched(second: str, *names: str) -> Schedule:
    """Return x = a + 1 and y of b and 1 by a second operation, whose kernels launch programs of those names."""
    nodes = (A, B, ONE, alu("x", "add", "a", "1"), alu("y", second, "b", "1"))
    items = [_kernel("x", "add", "a", 1.0), _kernel("y", second, "b", 1.0)]
    named = [replace(each, program=name) for each, name in zip(items, names, strict=True)]
    buffers = (*given("a", "b"), buffer("x"), buffer("y"))
    return schedule(buffers, named, graph(*nodes, results=["x", "y"]), {"x": "x", "y": "y"})


@violates("dedup.C2")
def one_kernel_compiled_twice() -> Schedule:
    """Two kernels differ in the numbers of their loops alone, and each of four shards compiles its own."""
    return launched("add", "kernel_1", "kernel_2")


@violates("dedup.C5")
def one_kernel_compiled_for_each_device() -> Schedule:
    """A constant of a kernel keeps the device it is for, so that each of two shards compiles its own."""
    there = "d1"
    nodes = (
        *(A, stored("b", device=there), ONE, replace(ONE, id="2", device=there)),
        *(alu("x", "add", "a", "1"), alu("y", "add", "b", "2", device=there)),
    )
    kernels = [_kernel("x", "add", "a", 1.0), replace(_kernel("y", "add", "b", 1.0), device=there)]
    items = [replace(each, program=f"kernel_{number}") for number, each in enumerate(kernels)]
    buffers = (*given("a"), buffer("b", device=there, preexisting=True), buffer("x"), buffer("y", device=there))
    return schedule(buffers, items, graph(*nodes, results=["x", "y"]), {"x": "x", "y": "y"})


@violates("fusion.C10")
def value_computed_in_two_halves() -> Schedule:
    """A kernel is made for each half of a value, as it was for each of two devices before they became one."""
    halves: tuple[IndexMap, IndexMap] = (line(2), (Affine(extents=(2,), strides=(1,), offset=2),))
    items = [
        elementwise(f"k{number}", "neg", writes("y", half, node="y"), reads("a", half), shape=(2,), provenance=("y",))
        for number, half in enumerate(halves)
    ]
    return schedule((*given("a"), buffer("y")), items, graph(A, alu("y", "neg", "a"), results=["y"]), {"y": "y"})


@violates("fusion.C11")
def two_sums_in_one_kernel() -> Schedule:
    """The loops of two sums are one, though each alone would keep its terms in the cache."""
    nodes = (
        *(A, B, node("s", "reduce", "a", shape=(), arg=(0,), fold="add")),
        *(node("t", "reduce", "b", shape=(), arg=(0,), fold="add"), alu("y", "add", "s", "t", shape=())),
    )
    instructions = (
        *(Load(access=0), Reduce(op="add", of=0, axes=(0,)), Load(access=1), Reduce(op="add", of=2, axes=(0,))),
        *(Alu(op="add", of=(1, 3)), Store(access=2, of=4)),
    )
    item = Kernel(id="k", device="d0", bodies=(Body(extents=(4,), instructions=instructions),),
                  accesses=(reads("a", line()), reads("b", line()), writes("y", ALL, node="y")),
                  provenance=("s", "t", "y"))  # fmt: skip
    return schedule((*given("a", "b"), buffer("y", 1)), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("dedup.C3")
def one_key_for_two_kernels() -> Schedule:
    """The key of the kernel cache leaves the operation out: the second of two of one shape launches the first."""
    return launched("sub", "kernel_1", "kernel_1")


@violates("dedup.C4")
def cached_for_other_data() -> tuple[Schedule, Schedule]:
    """What is taken from the cache is of a graph with another constant."""
    right = launched("add", "", "")
    body = right.items[0]
    assert isinstance(body, Kernel)
    return right, replace(right, items=(elementwise("x", "mul", writes("x", line(), node="x"), "a", 1.0,
                                                    provenance=("x",)), right.items[1]))  # fmt: skip


@violates("law.C4")
def zero_added() -> Schedule:
    """A + 0 is taken for a, which it is not of -0: the sum of -0 and 0 is 0."""
    nodes = (A, constant("0", 0), alu("y", "add", "a", "0"))
    item = elementwise("k", "move", writes("y", line(), node="y"), "a", provenance=("y",))
    return schedule((*given("a"), buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})
