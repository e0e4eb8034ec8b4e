"""Assigns that an item does, and those of which nobody knows whether one does."""

from __future__ import annotations

import pytest

from conformance.cases.schedule.builders import (
    buffer,
    constant,
    elementwise,
    given,
    graph,
    line,
    node,
    opaque,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.schedule import Item
from conformance.specs.schedules import judge

NODES = (stored("a"), stored("b"), constant("1"), node("w", "assign", "a", "1"), node("v", "assign", "b", "1"))
DONE = elementwise("k", "move", writes("a", line(), node="w"), 1.0, provenance=("w",))


def findings(*items: Item) -> dict[str, str]:
    made = schedule(given("a", "b"), items, graph(*NODES, results=["w", "v"]))
    return {each.clause: each.finding for each in judge(made)}


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
