"""What clauses about folds, detaches and second schedules say where a body, a label or a place is missing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

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
from conformance.cases.schedule.index_map import Affine, contiguous
from conformance.cases.schedule.kernel_body import Body, Cast, Load, Reduce, Store
from conformance.cases.schedule.schedule import Kernel, Schedule
from conformance.judging.schedules.clause import Relation
from conformance.specs.schedules import judge, judge_two
from tests.specs.schedules.test_excepted import finding

ROWS = Body(extents=(4, 4), instructions=(Load(access=0), Reduce(op="add", of=0, axes=(1,)), Store(access=1, of=1)))
TO_ROWS = (Affine(extents=(4, 4), strides=(1, 0)),)
NODES = (
    stored("x", (4, 4)),
    node("r", "reduce", "x", shape=(4,), arg=(1,), fold="add"),
    node("q", "reduce", "r", shape=(), arg=(0,), fold="add"),
)


def two_folds(*said: str) -> Schedule:
    """Return a fold with a body and one without, whose provenance are some nodes."""
    accesses = (reads("x", contiguous((4, 4))), writes("y", TO_ROWS, node="r"))
    first = Kernel(id="k", device="d0", accesses=accesses, bodies=(ROWS,), provenance=("r",))
    second = opaque("l", reads("y"), writes("z", node="q"), provenance=said)
    buffers = (buffer("x", 16, preexisting=True), buffer("y"), buffer("z", 1))
    return schedule(buffers, [first, second], graph(*NODES, results=["r", "q"]), {"r": "y", "q": "z"})


@pytest.mark.parametrize("clause", ["fusion.C4", "fusion.C11"])
@pytest.mark.parametrize("said", [(), ("q",)])
def test_a_fold_without_a_body_may_be_any(clause: str, said: tuple[str, ...]) -> None:
    findings = {each.clause: each.finding for each in judge(two_folds(*said))}
    assert findings[clause] == "silent"


def test_no_kernel_c8_what_moves_a_buffer_without_a_label_may_be_a_detach() -> None:
    nodes = (stored("a"), node("d", "detach", "a"), alu("c", "add", "d", "a"))
    every = contiguous((4,))
    items = [
        elementwise("k", "move", "t", "a"),
        elementwise("l", "add", writes("y", every, node="c"), "t", "a", provenance=("c",)),
    ]
    made = schedule((*given("a"), buffer("t"), buffer("y")), items, graph(*nodes, results=["c"]), {"c": "y"})
    assert {each.finding for each in judge(made) if each.clause == "no_kernel.C8"} == {"silent"}


def plain() -> Schedule:
    nodes = (stored("a"), constant("1"), alu("s", "add", "a", "1"), alu("t", "add", "s", "1"))
    items = [elementwise("k", "add", "y", "a", 1.0), elementwise("l", "add", "z", "y", 1.0)]
    buffers = (*given("a"), buffer("y"), buffer("z"))
    return schedule(buffers, items, graph(*nodes, results=["s", "t"]), {"s": "y", "t": "z"})


def without_a_place(made: Schedule) -> Schedule:
    return replace(made, places=made.places[:1])


def without_a_kernel(made: Schedule) -> Schedule:
    return replace(made, items=made.items[:1])


@pytest.mark.parametrize(
    ("clause", "relation"), [("memory.C10", "unplanned"), ("dedup.C4", "cached"), ("communication.C22", "switched")]
)
@pytest.mark.parametrize("changed", [without_a_place, without_a_kernel])
def test_a_second_schedule_gives_every_result(
    clause: str, relation: Relation, changed: Callable[[Schedule], Schedule]
) -> None:
    right, wrong = (judge_two(plain(), other, relation) for other in (plain(), changed(plain())))
    assert [next(each.finding for each in found if each.clause == clause) for found in (right, wrong)] == [
        "held",
        "broken",
    ]


@pytest.mark.parametrize(("place", "said"), [("t0", "held"), ("t1", "broken")])
def test_no_kernel_c8_what_is_written_again_without_a_label_may_be_the_source_of_the_detach(
    place: str, said: str
) -> None:
    nodes = (
        stored("a"), constant("1"), alu("s", "add", "a", "1"), node("y", "detach", "s"), alu("z", "neg", "s"),
    )  # fmt: skip
    items = [
        elementwise("k0", "add", writes("t0", line(), node="s"), "a", 1.0),
        elementwise("k1", "add", writes("t1", line()), "a", 1.0),
        elementwise("k2", "neg", writes("t2", line(), node="z"), "t1"),
    ]
    buffers = (*given("a"), *map(buffer, ("t0", "t1", "t2")))
    made = schedule(buffers, items, graph(*nodes, results=["y", "z"]), {"y": place, "z": "t2"})
    assert next(each.finding for each in judge(made) if each.clause == "no_kernel.C8") == said


@pytest.mark.parametrize("count", [16, 64, 512])
def test_law_c1_a_sum_that_accumulates_wide_is_folded_in_halves(count: int) -> None:
    half = {"dtype": "float16"}
    summed = node("y", "reduce", "a", shape=(), arg=(0,), fold="add", acc="float32", **half)

    def made(acc: str) -> Schedule:
        code = (Load(access=0), Reduce(op="add", of=0, axes=(0,), acc=acc), Store(access=1, of=1))
        if acc:
            code = (*code[:2], Cast(of=1, dtype="float16"), Store(access=1, of=2))
        own = (reads("a", line(count)), writes("y", (Affine(extents=(count,), strides=(0,)),), node="y"))
        item = Kernel(id="k", device="d0", accesses=own, bodies=(Body(extents=(count,), instructions=code),))
        buffers = (buffer("a", count, "float16", preexisting=True), buffer("y", 1, "float16"))
        return schedule(buffers, [item], graph(stored("a", (count,), **half), summed, results=["y"]), {"y": "y"})

    assert [finding("law.C1", made(acc)) for acc in ("", "float32")] == ["broken", "held"]
