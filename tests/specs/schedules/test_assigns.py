"""Assigns that an item does, and those of which nobody knows whether one does."""

from __future__ import annotations

import pytest

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
    writes,
)
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.kernel_body import Body, Load, Store
from conformance.cases.schedule.schedule import Item, Kernel, Schedule
from conformance.specs.schedules import judge

NODES = (stored("a"), stored("b"), constant("1"), node("w", "assign", "a", "1"), node("v", "assign", "b", "1"))
DONE = elementwise("k", "move", writes("a", line(), node="w"), 1.0, provenance=("w",))


def judged(made: Schedule) -> dict[str, str]:
    return {each.clause: each.finding for each in judge(made)}


def findings(*items: Item) -> dict[str, str]:
    return judged(schedule(given("a", "b"), items, graph(*NODES, results=["w", "v"])))


@pytest.mark.parametrize("value", [1.0, 7.0])
def test_assign_c14_says_nothing_of_what_is_written_without_a_label(value: float) -> None:
    assert findings(DONE, elementwise("l", "move", writes("b", line()), value))["assign.C14"] == "silent"
    assert findings(DONE, elementwise("l", "move", writes("b", line(), node="v"), value))["assign.C14"] == "held"
    assert findings(DONE)["assign.C14"] == "broken"


def test_assign_c14_a_label_on_a_write_without_a_byte() -> None:
    assert findings(DONE, opaque("l", writes("b", line(0), node="v")))["assign.C14"] == "broken"


@pytest.mark.parametrize(("later", "said"), [(True, "silent"), (False, "broken")])
def test_no_kernel_c17_a_sum_of_one_term_of_storage_that_is_assigned_to_later(*, later: bool, said: str) -> None:
    nodes = [stored("a"), stored("b"), node("r", "reduce", "a", arg=(), fold="add")]
    nodes += [node("w", "assign", "a" if later else "b", "b" if later else "a")]
    items = [
        elementwise("k", "move", writes("r", line(), node="r"), "a", provenance=("r",)),
        elementwise("l", "move", writes("a" if later else "b", line(), node="w"), "b" if later else "a"),
    ]
    made = schedule((*given("a", "b"), buffer("r")), items, graph(*nodes, results=["r"]), {"r": "r"})
    assert {each.clause: each.finding for each in judge(made)}["no_kernel.C17"] == said


def test_assign_c11_and_c14_a_write_of_no_byte_does_no_assign() -> None:
    nodes = (stored("a"), stored("b"), alu("v", "add", "a", "b"), node("w", "assign", "a", "v"))
    nowhere, code = (Affine(extents=(0,), strides=(1,)),), (Load(access=0), Store(access=1, of=0))
    nothing = Kernel(
        id="n",
        device="d0",
        accesses=(reads("b", nowhere), writes("a", nowhere, node="w")),
        bodies=(Body(extents=(0,), instructions=code),),
    )
    elsewhere = elementwise("k", "add", writes("t0", line(), node="w"), "a", "b")
    buffers, wanted = (*given("a", "b"), buffer("t0")), graph(*nodes, results=["w"])
    assert judged(schedule(buffers, [elsewhere, nothing], wanted))["assign.C11"] == "broken"
    assert judged(schedule(buffers, [nothing], wanted))["assign.C14"] == "broken"
