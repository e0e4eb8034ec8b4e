"""What a sentence says of names and bytes is what its check asks."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from conformance.cases.schedule.builders import (
    alu,
    buffer,
    elementwise,
    given,
    graph,
    line,
    opaque,
    planned,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.schedule import Kernel
from tests.specs.schedules.test_silence import findings


@pytest.mark.parametrize(("second", "finding"), [("t0", "broken"), ("t1", "held")])
def test_order_c4_a_value_made_anew_in_another_planned_buffer(second: str, finding: str) -> None:
    nodes = (stored("a"), alu("s", "add", "a", "a"), alu("y", "mul", "s", "s"))
    made, again = (
        elementwise(id, "add", writes(at, line(), node="s"), "a", "a", provenance=("s",))
        for id, at in (("k", "t0"), ("l", second))
    )
    last = elementwise("y", "mul", "y", second, second, provenance=("y",))
    buffers = (*given("a"), *planned(0, 0), buffer("y"))
    shown = schedule(buffers, [made, again, last], graph(*nodes, results=["y"]), {"y": "y"})
    assert findings(shown)["order.C4"] == finding


@pytest.mark.parametrize(("read", "finding"), [("t0", "held"), ("t1", "broken")])
def test_order_c1_what_was_written_to_another_planned_buffer_is_not_there(read: str, finding: str) -> None:
    items = [opaque("k", writes("t0")), opaque("l", reads(read), writes("y"))]
    assert findings(schedule((*planned(0, 0), buffer("y", output=True)), items))["order.C1"] == finding


@pytest.mark.parametrize(("device", "clause"), [("d0", "dedup.C2"), ("d1", "dedup.C5")])
@pytest.mark.parametrize(("pair", "finding"), [(("c", "d"), "broken"), (("c", "c"), "silent")])
def test_dedup_kernels_that_take_one_buffer_twice_are_not_like_those_of_two(
    pair: tuple[str, str], finding: str, device: str, clause: str
) -> None:
    def adds(id: str, *sources: str, device: str = "d0") -> Kernel:
        made = elementwise(id, "add", f"y{id}", *sources)
        return replace(made, program=id, device=device)

    mine = given("a", "b"), given("c", "d", device=device)
    buffers = (*mine[0], *mine[1], buffer("yk", output=True), buffer("yl", device=device, output=True))
    shown = schedule(buffers, [adds("k", "a", "b"), adds("l", *pair, device=device)])
    assert findings(shown)[clause] == finding
