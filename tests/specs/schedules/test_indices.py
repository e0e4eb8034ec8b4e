"""Indices that data give, whatever else a schedule does wrong."""

from __future__ import annotations

import pytest

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
from conformance.cases.schedule.kernel_body import Alu, Body, Constant, Fetch, Instruction, Load, Store
from conformance.cases.schedule.schedule import Collective, Item, Kernel, Schedule
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


def test_bodies_c7_says_nothing_behind_an_item_that_reads_past_its_buffer() -> None:
    past = elementwise("o", "move", writes("q0", line()), reads("p0", line(offset=2)))
    found = findings(taken(before=(past,)))
    assert (found["bodies.C4"], found["bodies.C7"]) == ("broken", "silent")
