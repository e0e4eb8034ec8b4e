"""Schedules of sums in parts: too few of them, too narrow, counted wrongly, or dropped."""

from __future__ import annotations

from conformance.cases.schedule.builders import buffer, graph, line, node, reads, schedule, stored, writes
from conformance.cases.schedule.index_map import Affine, IndexMap
from conformance.cases.schedule.kernel_body import Body, Cast, Load, Reduce, Store
from conformance.cases.schedule.schedule import Kernel, Schedule
from conformance.qualification.violations.violation import violates


def _halves() -> Schedule:
    """Return the sum of 16 float16 in eight parts of two terms each, folded and kept in float32."""
    nodes = (
        stored("a", (16,), dtype="float16"),
        node("s", "reduce", "a", shape=(), arg=(0,), fold="add", dtype="float16", acc="float32"),
    )
    square: IndexMap = (Affine(extents=(8, 2), strides=(2, 1)),)
    rows: IndexMap = (Affine(extents=(8, 2), strides=(1, 0)),)
    one: IndexMap = (Affine(extents=(8,), strides=(0,)),)
    wide, folded = Cast(of=0, dtype="float32"), Reduce(op="add", of=1, axes=(1,))
    first = Body(extents=(8, 2), instructions=(Load(access=0), wide, folded, Store(access=1, of=2)))
    last = (Load(access=0), Reduce(op="add", of=0, axes=(0,)), Cast(of=1, dtype="float16"), Store(access=1, of=2))
    items = [
        Kernel(id="k0", device="d0", bodies=(first,),
               accesses=(reads("a", square), writes("t", rows, node="s", parts=8))),
        Kernel(id="k1", device="d0", bodies=(Body(extents=(8,), instructions=last),), provenance=("s",),
               accesses=(reads("t", line(8)), writes("s", one, node="s"))),
    ]  # fmt: skip
    buffers = (buffer("a", 16, "float16", preexisting=True), buffer("t", 8), buffer("s", 1, "float16"))
    return schedule(buffers, items, graph(*nodes, results=["s"]), {"s": "s"})


LONG = 1 << 15


def long_sum(parts: str = "float32", *, said: int = 128, wide: bool = True, count: int = 128) -> Schedule:
    """Return the sum of 32768 float16 in parts."""
    nodes = (
        stored("a", (LONG,), dtype="float16"),
        node("s", "reduce", "a", shape=(), arg=(0,), fold="add", dtype="float16", acc="float32"),
    )
    square: IndexMap = (Affine(extents=(count, LONG // count), strides=(LONG // count, 1)),)
    rows: IndexMap = (Affine(extents=(count, LONG // count), strides=(1, 0)),)
    one: IndexMap = (Affine(extents=(count,), strides=(0,)),)
    fold = "float32" if wide else "float16"
    code = (Load(access=0), Cast(of=0, dtype=fold), Reduce(op="add", of=1, axes=(1,)), Cast(of=2, dtype=parts))
    last = (Load(access=0), Cast(of=0, dtype=fold), Reduce(op="add", of=1, axes=(0,)), Cast(of=2, dtype="float16"))
    whole = Body(extents=(count, LONG // count), instructions=(*code, Store(access=1, of=3)))
    items = [
        Kernel(id="k0", device="d0", bodies=(whole,),
               accesses=(reads("a", square), writes("t", rows, node="s", parts=said))),
        Kernel(id="k1", device="d0", bodies=(Body(extents=(count,), instructions=(*last, Store(access=1, of=3))),),
               accesses=(reads("t", line(count)), writes("s", one, node="s")), provenance=("s",)),
    ]  # fmt: skip
    buffers = (buffer("a", LONG, "float16", preexisting=True), buffer("t", count, parts), buffer("s", 1, "float16"))
    return schedule(buffers, items, graph(*nodes, results=["s"]), {"s": "s"})


@violates("splits.C1")
def short_sum_split() -> Schedule:
    """A sum of 16 terms takes two kernels."""
    return _halves()


@violates("splits.C5")
def split_into_few_parts() -> Schedule:
    """A sum is split into as many parts as there are cores, which are four."""
    return long_sum(said=4, count=4)


@violates("splits.C2")
def parts_kept_as_halves() -> Schedule:
    """A sum of halves accumulates in float32 within each part, and the parts are kept as halves."""
    return long_sum("float16")


@violates("splits.C3")
def parts_counted_wrongly() -> Schedule:
    """A split sum is said to have 256 parts, and its buffer holds 128."""
    return long_sum(said=256)


@violates("splits.C4")
def folded_in_halves() -> Schedule:
    """A sum of halves that is to accumulate in float32 is folded in float16."""
    return long_sum(wide=False)


@violates("law.C1")
def parts_of_a_sum_dropped() -> Schedule:
    """The second stage of a split sum folds one part too few: its length was rounded down."""
    nodes = (
        stored("a", (LONG,), dtype="int32"),
        node("s", "reduce", "a", shape=(), arg=(0,), fold="add", dtype="int32"),
    )
    square: IndexMap = (Affine(extents=(128, 256), strides=(256, 1)),)
    rows: IndexMap = (Affine(extents=(128, 256), strides=(1, 0)),)
    fold = (Load(access=0), Reduce(op="add", of=0, axes=(1,)), Store(access=1, of=1))
    last = (Load(access=0), Reduce(op="add", of=0, axes=(0,)), Store(access=1, of=1))
    items = [
        Kernel(id="k0", device="d0", bodies=(Body(extents=(128, 256), instructions=fold),),
               accesses=(reads("a", square), writes("t", rows, node="s", parts=128))),
        Kernel(id="k1", device="d0", bodies=(Body(extents=(127,), instructions=last),), provenance=("s",),
               accesses=(reads("t", line(127)), writes("s", (Affine(extents=(127,), strides=(0,)),), node="s"))),
    ]  # fmt: skip
    buffers = (buffer("a", LONG, "int32", preexisting=True), buffer("t", 128, "int32"), buffer("s", 1, "int32"))
    return schedule(buffers, items, graph(*nodes, results=["s"]), {"s": "s"})
