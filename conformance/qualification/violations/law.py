"""Schedules that keep every rule and compute something else."""

from __future__ import annotations

from typing import Any

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
    tensor,
    writes,
)
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.kernel_body import Alu, Bitcast, Body, Cast, Constant, Load, Reduce, Store
from conformance.cases.schedule.schedule import Collective, Kernel, Schedule
from conformance.qualification.violations.violation import violates

A = stored("a")


@violates("law.C1")
def another_operation() -> Schedule:
    """A - b is computed for a + b: two kernels of one shape got one key in a cache."""
    nodes = (A, stored("b"), alu("y", "add", "a", "b"))
    item = elementwise("k", "sub", "y", "a", "b", provenance=("y",))
    return schedule((*given("a", "b"), buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("law.C1")
def blocks_of_two_sizes_met() -> Schedule:
    """One member enters an all_reduce with its whole buffer, the other with a half: it hangs, or reads past an end."""
    nodes = [stored(f"x{d}", device=f"d{d}") for d in range(2)]
    nodes += [node(f"y{d}", "all_reduce", "x0", "x1", device=f"d{d}", fold="add") for d in range(2)]
    own = (reads("x0"), reads("x1", ranges=((0, 8),)), *(writes(f"y{d}", node=f"y{d}") for d in range(2)))
    item = Collective(id="r", op="all_reduce", attrs={"op": "sum"}, participants=("d0", "d1"), group="g", accesses=own)
    buffers = [*given("x0"), *given("x1", device="d1"), *(buffer(f"y{d}", device=f"d{d}") for d in range(2))]
    return schedule(buffers, [item], graph(*nodes, results=["y0", "y1"]), {"y0": "y0", "y1": "y1"})


@violates("law.C1")
def dropped_copy_taken_from_elsewhere() -> Schedule:
    """Of what a dropped copy was of, another value is kept."""
    nodes = (A, stored("b"), alu("s", "add", "a", "b"), node("y", "copy", "s"))
    item = elementwise("k", "mul", "s", "a", "b", provenance=("s",))
    return schedule((*given("a", "b"), buffer("s")), [item], graph(*nodes, results=["y"]), {"s": "s"})


@violates("law.C1")
def pad_pushed_through_exp2() -> Schedule:
    """A pad is pushed through exp2, so that what was added is 1 and not 0 (tinygrad #9478)."""
    padded = (Affine(extents=(6,), strides=(1,), offset=-1, mask=((1, 5),)),)
    nodes = (A, alu("e", "exp2", "a"), node("y", "pad", "e", shape=(6,), arg=((1, 1),)))
    write = writes("y", (Affine(extents=(6,), strides=(1,)),))
    item = elementwise("k", "exp2", write, reads("a", padded), shape=(6,), provenance=("e", "y"))
    return schedule((*given("a"), buffer("y", 6)), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("law.C1")
def padded_with_another_identity() -> Schedule:
    """A product over an axis padded to a multiple takes the zeros of the pad for factors. Seen in tinygrad #17895."""
    padded = (Affine(extents=(6,), strides=(1,), mask=((0, 4),)),)
    nodes = (A, node("y", "reduce", "a", shape=(), arg=(0,), fold="mul"))
    body = Body(extents=(6,), instructions=(Load(access=0), Reduce(op="mul", of=0, axes=(0,)), Store(access=1, of=1)))
    write = writes("y", (Affine(extents=(6,), strides=(0,)),), node="y")
    item = Kernel(id="k", device="d0", accesses=(reads("a", padded), write), bodies=(body,), provenance=("y",))
    return schedule((*given("a"), buffer("y", 1)), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("law.C1")
def maximum_folded_from_zero() -> Schedule:
    """An accumulator begins at zero whatever is folded, so that no maximum is below it."""
    nodes = (stored("a", dtype="int32"), node("y", "reduce", "a", shape=(), arg=(0,), fold="max", dtype="int32"))
    whole = (Affine(extents=(4,), strides=(0,)),)
    code = (Load(access=0), Reduce(op="max", of=0, axes=(0,)), Constant(value=tensor(0, "int32")))
    body = Body(extents=(4,), instructions=(*code, Alu(op="max", of=(1, 2)), Store(access=1, of=3)))
    own = (reads("a", line()), writes("y", whole, node="y"))
    item = Kernel(id="k", device="d0", accesses=own, bodies=(body,), provenance=("y",))
    buffers = (buffer("a", dtype="int32", preexisting=True), buffer("y", 1, dtype="int32"))
    return schedule(buffers, [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("law.C1")
def sum_kept_in_a_narrower_dtype() -> Schedule:
    """A float32 sum goes through a bfloat16 scratch buffer, which halves the traffic and most of the digits."""
    nodes = (A, stored("b"), alu("y", "add", "a", "b"))
    code = (Load(access=0), Load(access=1), Alu(op="add", of=(0, 1)), Cast(of=2, dtype="bfloat16"))
    body = Body(extents=(4,), instructions=(*code, Cast(of=3, dtype="float32"), Store(access=2, of=4)))
    own = (reads("a", line()), reads("b", line()), writes("y", line(), node="y"))
    item = Kernel(id="k", device="d0", accesses=own, bodies=(body,), provenance=("y",))
    return schedule((*given("a", "b"), buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})


def _folded(id: str, value: float, **rest: Any) -> Schedule:
    """Return y = a OP a, of which an engine makes a constant."""
    dtype = rest.pop("dtype", "float32")
    nodes = (A, alu("y", id, "a", "a", dtype=dtype))
    body = Body(extents=(4,), instructions=(Constant(value=tensor(value, dtype)), Store(access=0, of=0)))
    item = Kernel(id="k", device="d0", accesses=(writes("y", line(), node="y"),), bodies=(body,), provenance=("y",))
    return schedule((*given("a"), buffer("y", dtype=dtype)), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("law.C1")
def difference_folded_to_zero() -> Schedule:
    """A - a is taken for 0, which it is not of an infinity or a NaN. Seen in tinygrad 0.14.0."""
    return _folded("sub", 0)


@violates("law.C1")
def quotient_folded_to_one() -> Schedule:
    """A / a is taken for 1, which it is not of a zero, an infinity or a NaN."""
    return _folded("div", 1)


@violates("law.C1")
def equality_folded_to_true() -> Schedule:
    """A == a is taken for true, which it is not of a NaN."""
    return _folded("eq", True, dtype="bool")


@violates("law.C1")
def never_zero() -> Schedule:
    """A == 0 is taken for false, since no value that was tried was zero."""
    nodes = (A, constant("0", 0), alu("y", "eq", "a", "0", dtype="bool"))
    body = Body(extents=(4,), instructions=(Constant(value=tensor(False, "bool")), Store(access=0, of=0)))
    item = Kernel(id="k", device="d0", accesses=(writes("y", line(), node="y"),), bodies=(body,), provenance=("y",))
    return schedule((*given("a"), buffer("y", dtype="bool")), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("law.C1")
def product_through_fewer_digits() -> Schedule:
    """A product is stored in the dtype of a gradient and read back: it keeps the range and two digits."""
    nodes = (A, stored("b"), alu("y", "mul", "a", "b"))
    code = (Load(access=0), Load(access=1), Alu(op="mul", of=(0, 1)), Cast(of=2, dtype="float8_e5m2"))
    body = Body(extents=(4,), instructions=(*code, Cast(of=3, dtype="float32"), Store(access=2, of=4)))
    own = (reads("a", line()), reads("b", line()), writes("y", line(), node="y"))
    item = Kernel(id="k", device="d0", accesses=own, bodies=(body,), provenance=("y",))
    return schedule((*given("a", "b"), buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("law.C2")
def maximum_by_comparison() -> Schedule:
    """A maximum is chosen by ``a < b``, which is false of a NaN, so that the NaN in b is lost."""
    nodes = (A, stored("b"), alu("y", "max", "b", "a"))
    code = (Load(access=0), Load(access=1), Alu(op="lt", of=(0, 1)), Alu(op="where", of=(2, 1, 0)))
    body = Body(extents=(4,), instructions=(*code, Store(access=2, of=3)))
    own = (reads("a", line()), reads("b", line()), writes("y", line(), node="y"))
    item = Kernel(id="k", device="d0", accesses=own, bodies=(body,), provenance=("y",))
    return schedule((*given("a", "b"), buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("law.C3")
def operand_not_read() -> Schedule:
    """A kernel whose code is not known is bound to one operand of a sum: the other was taken for a constant."""
    nodes = (A, stored("b"), alu("y", "add", "a", "b"))
    item = opaque("k", reads("a"), writes("y", node="y"), provenance=("y",))
    return schedule((*given("a", "b"), buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("law.C3")
def half_of_an_operand_read() -> Schedule:
    """A kernel whose code is not known sums half of a buffer: the grid was halved."""
    nodes = (A, node("y", "reduce", "a", shape=(), arg=(0,), fold="add"))
    item = opaque("k", reads("a", ranges=((0, 8),)), writes("y", node="y"), provenance=("y",))
    return schedule((*given("a"), buffer("y", 1)), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("law.C1")
def bool_of_any_byte() -> Schedule:
    """A uint8 is taken for a bool as its bits are, and who adds such up counts 2 for a true of the byte 2."""
    nodes = (stored("a", dtype="uint8"), node("y", "cast", "a", dtype="bool"))
    body = Body(extents=(4,), instructions=(Load(access=0), Bitcast(of=0, dtype="bool"), Store(access=1, of=1)))
    own = (reads("a", line()), writes("y", line(), node="y"))
    item = Kernel(id="k", device="d0", accesses=own, bodies=(body,), provenance=("y",))
    buffers = (buffer("a", dtype="uint8", preexisting=True), buffer("y", dtype="bool"))
    return schedule(buffers, [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("law.C1", "tinygrad#16599")
def padded_in_one_way_for_two() -> Schedule:
    """One buffer is padded in two ways in a kernel, and an index is kept by its node alone: both reads are the first.

    Seen in tinygrad #16599.
    """
    before, after = ("p", ((1, 0),)), ("q", ((0, 1),))
    padded = (Affine(extents=(5,), strides=(1,), offset=-1, mask=((1, 5),)),)
    pads = (node(name, "pad", "a", shape=(5,), arg=arg) for name, arg in (before, after))
    nodes = (A, *pads, alu("y", "add", "p", "q", shape=(5,)))
    write = writes("y", (Affine(extents=(5,), strides=(1,)),), node="y")
    item = elementwise("k", "add", write, reads("a", padded), reads("a", padded), shape=(5,), provenance=("y",))
    return schedule((*given("a"), buffer("y", 5)), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("law.C1")
def base_not_reached_through_its_view() -> Schedule:
    """An assign through a flipped view writes the elements in the order of the base: every alias shows them turned.

    Seen in tinygrad #15381.
    """
    turned = node("v", "flip", "a", arg=(0,))
    straight = (Affine(extents=(4,), strides=(1,)),)
    nodes = (A, stored("b"), turned, node("w", "assign", "v", "b"))
    item = elementwise("k", "move", writes("a", straight, node="w"), "b", provenance=("w",))
    return schedule(given("a", "b"), [item], graph(*nodes, results=["w"]))
