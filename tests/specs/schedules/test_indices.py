"""Indices that data give, whatever else a schedule does wrong."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.cases.schedule.builders import (
    buffer,
    elementwise,
    graph,
    line,
    node,
    reads,
    schedule,
    stored,
    tensor,
    writes,
)
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.kernel_body import Alu, Body, Cast, Constant, Fetch, Index, Instruction, Load, Store
from conformance.cases.schedule.schedule import Access, Collective, Copy, Item, Kernel, Schedule
from conformance.specs.schedules import judge

BELOW: tuple[Instruction, ...] = (Constant(value=tensor(0, "int32")), Alu(op="max", of=(0, 1)))
PLAIN = tuple(buffer(f"{name}{d}", 4 - 2 * (name == "p") * d, device=f"d{d}", preexisting=name == "p")
              for name in "pq" for d in range(2))  # fmt: skip


def taken(*clamp: Instruction, index: str = "i", before: tuple[Item, ...] = ()) -> Schedule:
    """Return y = a[i] of one index, after some items."""
    code = (Load(access=0), *clamp)
    code = (*code, Fetch(access=1, at=(len(code) - 1,)), Store(access=2, of=len(code)))
    table = (Affine(extents=(1, 4), strides=(0, 1)),)
    own = (reads(index, line(1)), reads("a", table), writes("y", line(1), node="y"))
    kernel = Kernel(id="k", device="d0", accesses=own, bodies=(Body(extents=(1,), instructions=code),))
    nodes = (stored("a"), stored(index, (1,), dtype="int32"), node("y", "gather", "a", index, shape=(1,), arg=0))
    buffers = (buffer("a", preexisting=True), buffer(index, 1, "int32", preexisting=True), buffer("y", 1), *PLAIN)
    return schedule(buffers, [*before, kernel], graph(*nodes, results=["y"]), {"y": "y"})


def findings(made: Schedule) -> dict[str, str]:
    return {each.clause: each.finding for each in judge(made)}


@pytest.mark.parametrize("index", ["h", "i", "s", "t", "u"])
def test_bodies_c7_one_index_that_is_clamped_from_below_alone(index: str) -> None:
    above = (Constant(value=tensor(3, "int32")), Alu(op="min", of=(2, 3)))
    assert findings(taken(*BELOW, index=index))["bodies.C7"] == "broken"
    assert findings(taken(*BELOW, *above, index=index))["bodies.C7"] == "held"


def test_bodies_c7_says_nothing_behind_a_collective_that_does_not_fit() -> None:
    own = (*(reads(f"p{d}") for d in range(2)), *(writes(f"q{d}") for d in range(2)))
    met = Collective(
        id="m", op="all_reduce", attrs={"op": "sum"}, participants=("d0", "d1"), group="g", accesses=own
    )  # fmt: skip
    assert findings(taken(before=(met,)))["bodies.C7"] == "silent"


@pytest.mark.parametrize(("own", "clause"), [((), "C1"), ((reads("p1"), writes("p0")), "C3")])
def test_bodies_c7_says_nothing_behind_a_copy_that_does_not_fit(own: tuple[Access, ...], clause: str) -> None:
    found = findings(taken(before=(Copy(id="c", accesses=own),)))
    assert (found["bodies.C7"], found[f"copies.{clause}"]) == ("silent", "broken")


def test_bodies_c7_says_nothing_behind_an_item_that_reads_past_its_buffer() -> None:
    past = elementwise("o", "move", writes("q0", line()), reads("p0", line(offset=2)))
    found = findings(taken(before=(past,)))
    assert (found["bodies.C4"], found["bodies.C7"]) == ("broken", "silent")


def test_form_c8_a_table_is_as_large_as_what_can_be_taken_of_it() -> None:
    many = 1 << 14
    table = (Affine(extents=(many, many), strides=(0, 1)),)
    code = (Load(access=0), Fetch(access=1, at=(0,)), Store(access=2, of=1))
    own = (reads("i", line(many)), reads("a", table), writes("y", line(many), node="y"))
    kernel = Kernel(id="k", device="d0", accesses=own, bodies=(Body(extents=(many,), instructions=code),))
    nodes = (stored("a", (many,)), node("i", "iota", shape=(many,), dtype="int32", arg=0))
    nodes = (*nodes, node("y", "gather", "a", "i", shape=(many,), arg=0))
    buffers = (buffer("a", many, preexisting=True), buffer("i", many, "int32"), buffer("y", many))
    counted = Body(extents=(many,), instructions=(Index(axis=0), Cast(of=0, dtype="int32"), Store(access=0, of=1)))
    first = Kernel(id="c", device="d0", accesses=(writes("i", line(many), node="i"),), bodies=(counted,))
    made = schedule(buffers, [first, kernel], graph(*nodes, results=["y"]), {"y": "y"})
    found = findings(made)
    assert (found["form.C8"], found["bodies.C7"], found["law.C1"]) == ("held", "held", "held")
    wide = replace(kernel, accesses=(own[0], replace(own[1], map=(replace(table[0], strides=(1, 1)),)), own[2]))
    assert findings(replace(made, items=(first, wide)))["form.C8"] == "broken"
