"""What a clause says where it is told of some items alone, and what a clause that needs a kernel lets be made."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from conformance.cases.graph.buffer import Device
from conformance.cases.schedule.builders import (
    buffer,
    constant,
    copy,
    elementwise,
    given,
    graph,
    line,
    node,
    opaque,
    planned,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.communication import Choice
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.schedule import Access, Item, Kernel, Schedule
from conformance.qualification.violations.communication import pair, reduced
from conformance.specs.schedules import judge


def finding(clause: str, made: Schedule) -> str:
    return next(each.finding for each in judge(made) if each.clause == clause)


@pytest.mark.parametrize(
    ("first", "second", "findings"),
    [
        ({"algorithm": "ring"}, {"algorithm": "ring"}, ("held", "held")),
        ({"algorithm": "ring"}, {}, ("silent", "silent")),
        ({}, {"algorithm": "one_shot"}, ("broken", "silent")),
        ({"choice": Choice(on=True, threshold=0)}, {"algorithm": "tree"}, ("held", "held")),
    ],
)
def test_communication_c16_and_c15_of_a_piece_of_which_nobody_says_how_it_is_done(
    first: dict[str, Any], second: dict[str, Any], findings: tuple[str, str]
) -> None:
    items = [reduced("r", "x", "y", call="both", **first), reduced("s", "v", "u", call="both", **second)]
    more = [reduced(f"{n}", "x", "w", algorithm="ring") for n in range(2)]  # which are alike, and told
    made = schedule((*pair("x", "v", preexisting=True), *pair("y", "u", "w", output=True)), [*items, *more])
    assert (finding("communication.C16", made), finding("communication.C15", made)) == findings


def launched(*programs: str, third: Kernel | None = None, **flags: Any) -> Schedule:
    """Return kernels that add one, launched as some programs, and a third one."""
    kernels: list[Item] = [
        elementwise(f"k{n}", "add", f"y{n}", "a", 1.0, program=each) for n, each in enumerate(programs)
    ]
    made = (*given("a"), buffer("y0"), buffer("y1", **flags), buffer("y2"))
    return schedule(made, [*kernels, *([third] if third else [])])


PRODUCT = elementwise("k2", "mul", "y2", "a", 1.0)
LIKE = elementwise("k2", "add", "y2", "a", 1.0)
BARE = opaque("k2", reads("a", line()), writes("y2", line()))
OTHERS = [
    (replace(PRODUCT, program="r"), "held", "held"),
    (PRODUCT, "held", "held"),
    (LIKE, "silent", "held"),
    (replace(BARE, program="r"), "silent", "held"),
    (replace(BARE, program="p"), "held", "silent"),
]


@pytest.mark.parametrize(("third", "like", "one"), OTHERS)
def test_dedup_c2_and_c3_of_a_kernel_without_a_name_or_a_body(third: Kernel, like: str, one: str) -> None:
    made = launched("p", "p", third=third)
    assert (finding("dedup.C2", made), finding("dedup.C3", made)) == (like, one)


def test_dedup_c2_is_about_kernels_that_are_one_and_c3_about_those_of_one_program() -> None:
    apart = launched("p", third=replace(PRODUCT, program="q"))
    assert [finding(clause, apart) for clause in ("dedup.C2", "dedup.C3")] == ["silent", "silent"]
    kinds = ({}, {"space": 1}, {"local": True})
    assert [finding("dedup.C2", launched("p", "q", **flags)) for flags in kinds] == ["broken", "silent", "silent"]


def test_dedup_c5_compares_each_kernel_with_all_of_another_device() -> None:
    far = elementwise("far", "add", "z", "b", 1.0, device="d1", program="p")
    items = [
        far if n == 1 else elementwise(f"k{n}", "add", f"y{n}", "a", 1.0, program=f"{'pq'[n // 2]}") for n in range(3)
    ]
    buffers = (*given("a"), *given("b", device="d1"), buffer("y0"), buffer("y2"), buffer("z", device="d1"))
    assert finding("dedup.C5", schedule(buffers, items)) == "broken"


def test_memory_c3_and_c4_of_an_arena_on_a_device_without_sub_buffers() -> None:
    arena, part = planned(0)
    item = elementwise("k", "add", writes("t0", line()), "a", 1.0)
    made = schedule((*given("a"), replace(arena, device="d1"), part), [item])
    found = [
        [finding(clause, replace(made, devices={"d0": Device(alignment=mine), "d1": Device(alignment=arenas)}))
         for clause in ("memory.C3", "memory.C4")]
        for mine, arenas in ((256, 256), (256, 0), (0, 256))
    ]  # fmt: skip
    assert found == [["held", "held"], ["broken", "held"], ["broken", "silent"]]


FOLDED = node("r", "reduce", "v", arg=(1,), fold="add")
SCATTERED = Access(buffer="a", map=(Affine(extents=(4,), strides=(2,)),))


@pytest.mark.parametrize("taken", [True, False])
def test_no_kernel_c1_and_c3_of_what_is_taken_as_a_reduce_of_one_term(taken: bool) -> None:
    sent = node("f", "copy", "r", device="d1", arg=True)
    half = node("v", "shrink", "a", shape=(4, 1), arg=((0, 4), (0, 1)))
    for clause, nodes, source in (
        ("no_kernel.C3", (stored("a", (4, 2)), half), SCATTERED),
        ("no_kernel.C1", (constant("v", 2, shape=(4, 1)),), 2.0),
    ):
        item = elementwise("k", "move", writes("t", line(), node="v"), source)
        items: list[Item] = [item, *([copy("c", "t", writes("f", node="f"))] if taken else [])]
        buffers = (*given("a", count=8), buffer("t"), buffer("f", device="d1"))
        kept = graph(*nodes, FOLDED, *([sent] if taken else []), results=["f" if taken else "r"])
        made = schedule(buffers, items, kept, {"f": "f"} if taken else {"r": "t"})
        assert finding(clause, made) != "broken" if taken else finding(clause, made) == "broken"
