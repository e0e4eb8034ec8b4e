"""Schedules as they should be break no clause, and the master law speaks of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

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
    planned,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.codec import parse, text
from conformance.cases.schedule.schedule import Collective, Schedule, View, Wait
from conformance.cases.tensor.tensor import Tensor
from conformance.qualification.violations.memory import chained
from conformance.specs.schedules import CLAUSES, judge, judge_two
from tests.specs.schedules.all_reduces import direct, naive, ring
from tests.specs.schedules.honest import HONEST
from tests.specs.schedules.variants import by_edges

A, ONE = stored("a"), constant("1")


def findings(made: Schedule) -> dict[str, str]:
    found = {each.clause: each.finding for each in judge(made)}
    assert "broken" not in found.values(), [each for each in judge(made) if each.finding == "broken"]
    return found


def started(made: Schedule) -> Schedule:
    whole = made.items[0]
    assert isinstance(whole, Collective)
    return replace(made, items=(replace(whole, handle="h"), Wait(id="w", handle="h")))


@pytest.mark.parametrize("make", [naive, ring, direct])
@pytest.mark.parametrize("how", [lambda made: made, started, by_edges], ids=["in order", "started", "by edges"])
def test_an_all_reduce_over_four_devices(make: Callable[[], Schedule], how: Callable[[Schedule], Schedule]) -> None:
    made = how(make())
    found = findings(made)
    assert found["law.C1"] == found["copies.C8"] == "held"
    assert parse(text(made).encode()) == made


def assigned() -> Schedule:
    """Return a <- a.flip() + 1; a[0:2] <- 9; y = a + 1, the flip read from a copy."""
    nodes = (
        A,
        ONE,
        node("f", "flip", "a", arg=(0,)),
        alu("s", "add", "f", "1"),
        node("v", "assign", "a", "s"),
        node("l", "shrink", "v", shape=(2,), arg=((0, 2),)),
        constant("9", 9, (2,)),
        node("w", "assign", "l", "9", shape=(2,)),
        alu("y", "add", "v", "1"),
    )
    turned = reads("t", line(4, 3, -1))
    items = [
        elementwise("keep", "move", "t", "a"),
        elementwise("v", "add", writes("a", line(), node="v"), turned, 1.0, provenance=("s", "v")),
        elementwise("w", "move", writes("a", line(2), node="w"), 9.0, shape=(2,), provenance=("w",)),
        elementwise("y", "add", "y", "a", 1.0, provenance=("y",)),
    ]
    buffers = (*given("a"), buffer("t"), buffer("y"))
    return schedule(buffers, items, graph(*nodes, results=["v", "y"]), {"y": "y"})


def test_a_chain_of_assigns() -> None:
    assert findings(assigned())["law.C1"] == "held"


def test_a_planned_chain() -> None:
    assert findings(chained(*planned(0, 256)))["law.C1"] == "held"


def test_bytes_are_given_on_when_their_first_owner_is_done() -> None:
    nodes = [A, ONE, alu("p", "add", "a", "1"), alu("q", "add", "p", "1"), alu("r", "add", "q", "1")]
    nodes.append(alu("y", "add", "r", "1"))
    chain = [("p", "a", "t0"), ("q", "t0", "t1"), ("r", "t1", "t2"), ("y", "t2", "y")]
    items = [
        elementwise(name, "add", writes(target, line(), node=name), source, 1.0, provenance=(name,))
        for name, source, target in chain
    ]
    buffers = (*given("a"), *planned(0, 256, 0), buffer("y"))
    # Kernels that take two buffers do not fuse.
    made = narrow(schedule(buffers, items, graph(*nodes, results=["y"]), {"y": "y"}), 2)
    assert findings(made)["law.C1"] == "held"


def narrow(made: Schedule, most: int) -> Schedule:
    return replace(made, devices={name: replace(each, most_buffers=most) for name, each in made.devices.items()})


def test_an_update_in_place_that_reads_where_it_writes() -> None:
    nodes = (A, ONE, alu("s", "add", "a", "1"), node("w", "assign", "a", "s"))
    item = elementwise("k", "add", writes("a", line(), node="w"), "a", 1.0, provenance=("s", "w"))
    made = schedule(given("a"), [item], graph(*nodes, results=["w"]))
    assert findings(made)["law.C1"] == "held"


def test_a_copy_of_a_part_that_lies_side_by_side() -> None:
    nodes = (A, node("l", "shrink", "a", shape=(2,), arg=((1, 3),)), node("c", "copy", "l", shape=(2,), device="d1"))
    item = copy("k", reads("a", ranges=((4, 12),)), writes("c", node="c"), provenance=("c",))
    buffers = (*given("a"), buffer("c", 2, device="d1"))
    assert findings(schedule(buffers, [item], graph(*nodes, results=["c"]), {"c": "c"}))["law.C1"] == "held"


@pytest.mark.parametrize("label", ["c", None])
def test_a_forced_copy_on_one_device(label: str | None) -> None:
    nodes = (A, node("c", "copy", "a", arg=True))
    item = copy("k", "a", writes("c", node=label), provenance=("c",))
    made = schedule((*given("a"), buffer("c")), [item], graph(*nodes, results=["c"]), {"c": "c"})
    assert findings(made)["law.C1"] == "held"


def test_without_a_graph_what_needs_none_is_judged() -> None:
    made = replace(naive(), graph=None, places=())
    parts = [replace(p, accesses=tuple(replace(a, node=None) for a in p.accesses)) for p in made.items[0].parts]
    found = findings(replace(made, items=(replace(made.items[0], parts=tuple(parts)),)))
    assert found["order.C1"] == "held"
    assert {"order.C3", "law.C1"} <= {clause for clause, finding in found.items() if finding == "silent"}
    assert len(found) > len(CLAUSES)


def test_bytes_are_given_on_along_edges_while_everything_is_under_way() -> None:
    made = by_edges(HONEST["bytes given on"]())
    started = [replace(item, handle=item.id) for item in made.items if not isinstance(item, View | Wait)]
    waits = [Wait(id=f"wait {item.id}", handle=item.id) for item in started]
    assert findings(replace(made, items=(*started, *waits)))["memory.C1"] == "held"
    loose = replace(made, items=(*(replace(item, after=()) for item in started), *waits))
    assert "memory.C1" in {each.clause for each in judge(loose) if each.finding == "broken"}


def test_a_result_that_no_data_change_need_not_be_stored() -> None:
    def said(*nodes: Node, dtype: str) -> str:
        made = schedule((buffer("a", dtype=dtype, preexisting=True),), [], graph(*nodes, results=["y"]), {})
        return next(each.finding for each in judge(made) if each.clause == "order.C2")

    whole = {"dtype": "int32"}
    zeros = Tensor(dtype="int32", shape=(), bits="00000000")
    integers = stored("a", **whole), node("0", "const", arg=zeros, **whole), alu("y", "mul", "a", "0", **whole)
    assert said(*integers, dtype="int32") == "held"
    # Of an infinity that is a NaN.
    assert said(A, constant("0", 0), alu("y", "mul", "a", "0"), dtype="float32") == "broken"


@pytest.mark.parametrize("made", [True, False])
def test_a_forced_copy_of_which_only_padding_is_left_may_be_made_or_not(made: bool) -> None:
    nodes = (
        A,
        node("c", "copy", "a", device="d1", arg=True),
        node("p", "pad", "c", shape=(8,), device="d1", arg=((4, 0),)),
        node("y", "shrink", "p", shape=(4,), device="d1", arg=((0, 4),)),
    )
    items = [copy("c", "a", writes("c", line(), node="c"))] if made else []
    buffers = (*given("a"), *((buffer("c", device="d1"),) if made else ()))
    assert findings(schedule(buffers, items, graph(*nodes, results=["y"]), {}))["copies.C7" if made else "order.C2"]


@pytest.mark.parametrize(("op", "dtype", "finding"), [("or", "bool", "held"), ("or", "int32", "broken")])
def test_kernels_of_one_program_may_say_one_thing_in_two_ways(op: str, dtype: str, finding: str) -> None:
    kind = {"dtype": dtype}
    nodes = stored("a", **kind), alu("x", "add", "a", "a", **kind), alu("y", op, "a", "a", **kind)
    items = [
        replace(elementwise(name, word, writes(name, line(), node=name), "a", "a", provenance=(name,)), program="p")
        for name, word in (("x", "add"), ("y", op))
    ]
    buffers = (buffer("a", dtype=dtype, preexisting=True), *(buffer(name, dtype=dtype) for name in ("x", "y")))
    made = schedule(buffers, items, graph(*nodes, results=["x", "y"]), {"x": "x", "y": "y"})
    assert next(each.finding for each in judge(made) if each.clause == "dedup.C3") == finding


@pytest.mark.parametrize(("shared", "found"), [("sqrt", "held"), ("move", "broken")])
def test_what_several_results_share_may_be_computed_by_an_item_of_its_own(shared: str, found: str) -> None:
    def made(*names: str) -> Schedule:
        own = [elementwise(name, "mul", name, "t", 2.0 + number) for number, name in enumerate(names)]
        buffers = (*given("a"), *map(buffer, (*names, "t")))
        asked = graph(A, ONE, *(alu(name, "mul", "a", "1") for name in names), results=list(names))
        return schedule(buffers, [elementwise("t", shared, "t", "a"), *own], asked, {name: name for name in names})

    together = made("x", "y")
    one, other = (replace(made(name), items=made(name).items[1:]) for name in ("x", "y"))
    assert {each.clause: each.finding for each in judge_two(together, one, "together", other)}["order.C9"] == found
