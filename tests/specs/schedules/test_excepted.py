"""What the sentence of a clause excepts is not found, and what it does not except is."""

from __future__ import annotations

import pytest

from conformance.cases.graph.graph import Node
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
    reads,
    schedule,
    stored,
    tensor,
    writes,
)
from conformance.cases.schedule.kernel_body import Body, Constant, Instruction, Store
from conformance.cases.schedule.schedule import Collective, Item, Kernel, Schedule
from conformance.specs.schedules import judge


def finding(clause: str, made: Schedule) -> str:
    return next(each.finding for each in judge(made) if each.clause == clause)


def three_assigns(*order: int) -> Schedule:
    """Return a <- 1; a <- 2; a <- 3, done in another order."""
    nodes = [stored("a"), *(constant(str(n), n) for n in (1, 2, 3))]
    nodes += [node(f"w{n}", "assign", "a", str(n)) for n in (1, 2, 3)]
    items: list[Item] = [
        elementwise(f"w{n}", "move", writes("a", line(), node=f"w{n}"), float(n), provenance=(f"w{n}",)) for n in order
    ]
    return schedule(given("a"), items, graph(*nodes, results=["w3"]))


@pytest.mark.parametrize(("order", "said"), [((1, 2, 3), "held"), ((2, 1, 3), "held"), ((1, 3, 2), "broken")])
def test_the_last_assign_in_the_program_is_done_last_and_the_others_in_any_order(
    order: tuple[int, ...], said: str
) -> None:
    assert finding("assign.C8", three_assigns(*order)) == said


def both_assigns(target: str, *order: int) -> Kernel:
    """Return a kernel of two assigns to a buffer, which its body stores in some order; without one nothing tells it."""
    written = tuple(writes(target, line(), node=f"{target}{n}") for n in (1, 2))
    stores: list[Instruction] = []
    for n in order:
        stores += [Constant(value=tensor(float(n))), Store(access=n - 1, of=len(stores))]
    bodies = (Body(extents=(4,), instructions=tuple(stores)),) if order else ()
    return opaque(f"k{target}", *written, provenance=(f"{target}1", f"{target}2"), bodies=bodies)


def assigned(*items: Item) -> Schedule:
    """Return the schedule of three assigns to a, and of three to b."""
    nodes = [stored("a"), stored("b"), *(constant(str(n), n) for n in (1, 2, 3))]
    nodes += [node(f"{target}{n}", "assign", target, str(n)) for n in (1, 2, 3) for target in "ab"]
    return schedule(given("a", "b"), items, graph(*nodes, results=["a3", "b3"]))


@pytest.mark.parametrize(("order", "said"), [((1, 2), "held"), ((2, 1), "broken"), ((), "silent")])
def test_of_two_assigns_by_one_kernel_its_body_tells_which_is_last(order: tuple[int, ...], said: str) -> None:
    assert finding("assign.C8", assigned(both_assigns("a", *order))) == said


def test_assign_c8_of_one_kernel_that_tells_nothing_and_another_that_stores_in_the_wrong_order() -> None:
    assert finding("assign.C8", assigned(both_assigns("a"), both_assigns("b", 2, 1))) == "broken"


@pytest.mark.parametrize("order", [(1, 2), (2, 1), ()])
def test_assign_c8_of_two_assigns_in_any_order_that_a_later_one_writes_over(order: tuple[int, ...]) -> None:
    last = elementwise("last", "move", writes("a", line(), node="a3"), 3.0, provenance=("a3",))
    assert finding("assign.C8", assigned(both_assigns("a", *order), last)) == "held"


@pytest.mark.parametrize(("done", "said"), [((3,), "held"), ((2, 3), "held"), ((2,), "broken"), ((), "broken")])
def test_of_several_assigns_of_which_nothing_tells_the_last_is_enough(done: tuple[int, ...], said: str) -> None:
    assert finding("assign.C14", three_assigns(*done)) == said


@pytest.mark.parametrize(("forced", "said"), [(True, "silent"), (None, "broken")])
def test_a_reduce_of_nothing_lies_in_a_buffer_for_a_forced_copy(forced: bool | None, said: str) -> None:
    nodes = (
        stored("e", (0, 3)),
        node("r", "reduce", "e", shape=(3,), arg=(0,), fold="add"),
        node("c", "copy", "r", shape=(3,), device="d1", arg=forced),
    )
    items: list[Item] = [
        opaque("k", reads("e"), writes("t", node="r"), provenance=("r",)),
        copy("send", "t", writes("y", node="c"), provenance=("c",)),
    ]
    buffers = (buffer("e", 0, preexisting=True), buffer("t", 3), buffer("y", 3, device="d1"))
    assert finding("no_kernel.C7", schedule(buffers, items, graph(*nodes, results=["c"]), {"c": "y"})) == said


@pytest.mark.parametrize(("forced", "said"), [(True, "silent"), (None, "broken")])
def test_a_constant_lies_in_a_buffer_for_a_forced_copy_of_its_detach(forced: bool | None, said: str) -> None:
    nodes = (constant("c"), node("m", "detach", "c"), node("y", "copy", "m", device="d1", arg=forced))
    items: list[Item] = [opaque("k", writes("t", node="c")), copy("send", "t", writes("y", node="y"))]
    made = schedule((buffer("t"), buffer("y", device="d1")), items, graph(*nodes, results=["y"]), {"y": "y"})
    assert finding("no_kernel.C1", made) == said


@pytest.mark.parametrize(("view", "said"), [
    (node("s", "stride", "a", shape=(2,), arg=(2,)), "silent"),
    (node("s", "shrink", "a", shape=(2,), arg=((0, 2),)), "broken"),
])  # fmt: skip
def test_a_view_with_gaps_lies_in_a_buffer_for_a_copy_of_its_detach(view: Node, said: str) -> None:
    nodes = (
        stored("a"),
        view,
        node("m", "detach", "s", shape=(2,)),
        node("y", "copy", "m", shape=(2,), device="d1"),
    )
    items: list[Item] = [opaque("k", reads("a"), writes("t", node="s")), copy("send", "t", writes("y", node="y"))]
    buffers = (*given("a"), buffer("t", 2), buffer("y", 2, device="d1"))
    assert finding("no_kernel.C3", schedule(buffers, items, graph(*nodes, results=["y"]), {"y": "y"})) == said


@pytest.mark.parametrize(("acc", "said"), [("", "broken"), ("float64", "broken"), ("float16", "silent")])
def test_a_reduce_of_one_term_that_rounds_it_is_not_its_source(acc: str, said: str) -> None:
    nodes = (stored("a", (4, 1)), node("y", "reduce", "a", arg=(1,), fold="add", acc=acc))
    item = opaque("k", reads("a"), writes("y", node="y"), provenance=("y",))
    made = schedule((*given("a"), buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})
    assert finding("no_kernel.C17", made) == said


def test_local_memory_of_a_collective_is_found_and_that_of_one_kernel_is_not() -> None:
    own = (writes("t", line()), reads("t", line()))
    kernel = Kernel(id="k", device="d0", accesses=own)
    meeting = Collective(
        id="r",
        op="all_reduce",
        attrs={"op": "sum"},
        participants=("d0",),
        group="g",
        accesses=(reads("a"), writes("t")),
    )
    found = [
        finding("staging.C3", schedule((*given("a"), buffer("t", local=True)), [item])) for item in (kernel, meeting)
    ]
    assert found == ["held", "broken"]


@pytest.mark.parametrize(("op", "said"), [("detach", "broken"), ("reshape", "broken"), ("flip", "silent")])
def test_no_kernel_c15_is_about_a_value_that_was_only_handed_on(op: str, said: str) -> None:
    rest = {"arg": (0,)} if op == "flip" else {}
    there = (node("there", "copy", "a", device="d1"), node("m", op, "there", device="d1", **rest))
    items: list[Item] = [
        copy("send", "a", writes("t", node="there"), provenance=("there",)),
        copy("return", "t", writes("y", node="back"), provenance=("back",)),
    ]
    buffers = (*given("a"), buffer("t", device="d1"), buffer("y"))
    made = graph(stored("a"), *there, node("back", "copy", "m"), results=["back"])
    assert finding("no_kernel.C15", schedule(buffers, items, made, {"back": "y"})) == said


@pytest.mark.parametrize(
    ("forced", "label", "said"), [(True, None, "held"), (None, None, "broken"), (True, "plain", "broken")]
)
def test_an_item_without_a_label_may_do_a_forced_copy_that_nothing_reads(
    forced: bool | None, label: str | None, said: str
) -> None:
    plain = node("plain", "copy", "a", device="d1")
    nodes = (stored("a"), node("c", "copy", "a", device="d1", arg=forced), plain, alu("y", "neg", "a"))
    items: list[Item] = [
        copy("send", "a", writes("t", node=label)),
        elementwise("k", "neg", writes("y", line(), node="y"), "a"),
    ]
    buffers = (*given("a"), buffer("t", device="d1"), buffer("y"))
    made = schedule(buffers, items, graph(*nodes, results=["y"]), {"y": "y"})
    assert finding("order.C3", made) == said
