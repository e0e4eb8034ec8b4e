"""What is broken is not held where somebody says less of it: a clause that cannot tell says nothing."""

from __future__ import annotations

from random import Random

import pytest
from msgspec.structs import replace

from conformance.cases.schedule.builders import (
    alu,
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
from conformance.cases.schedule.builders import buffer as made_buffer
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.kernel_body import Body, Load, Reduce, Store
from conformance.cases.schedule.schedule import Kernel, Schedule
from conformance.qualification.frozen.untold import all_untold
from conformance.qualification.violations import Violation, violations
from conformance.qualification.violations.communication import in_memory_that_lasts
from conformance.specs.schedules import judge, judge_two

A, B = stored("a"), stored("b")
ANEW = ("a map less",)
"""What says another thing, and not less: all of a buffer is read or written."""

ONE = [each for each in violations() if isinstance(each.make(), Schedule) and not each.breaks.startswith("form.")]


def findings(made: Schedule) -> dict[str, str]:
    return {each.clause: each.finding for each in judge(made)}


@pytest.mark.parametrize("violation", ONE, ids=lambda violation: violation.name)
def test_what_is_broken_is_not_held_where_less_is_said(violation: Violation) -> None:
    made = violation.make()
    assert isinstance(made, Schedule)
    for word, less in all_untold(made, Random(1)):
        if word not in ANEW:
            assert findings(less)[violation.breaks] != "held", word


def test_assign_c1_a_kernel_without_a_body_that_reads_what_it_writes() -> None:
    nodes = (A, alu("v", "neg", "a"), node("w", "assign", "a", "v"))
    told = elementwise("k", "neg", writes("a", line(), node="w"), "a", provenance=("v", "w"))
    made = schedule(given("a"), [told], graph(*nodes, results=["w"]))
    assert findings(made)["assign.C1"] == "held"
    assert findings(replace(made, items=(replace(told, bodies=()),)))["assign.C1"] == "silent"


def test_order_c5_a_contig_that_an_item_keeps_and_does_not_say_it_computes() -> None:
    nodes = (A, B, alu("t", "add", "a", "b"), node("s", "contig", "t"), alu("y", "neg", "s"))
    kept = elementwise("s", "add", writes("s", line(), node="s"), "a", "b")
    again = opaque("y", reads("a"), reads("b"), writes("y"), provenance=("t", "s", "y"))
    taken = opaque("y", reads("s"), writes("y"), provenance=("s", "y"))
    buffers = (*given("a", "b"), made_buffer("s"), made_buffer("y"))
    for item, said in ((again, "broken"), (taken, "held")):
        made = schedule(buffers, [kept, item], graph(*nodes, results=["y"]), {"y": "y"})
        assert findings(made)["order.C5"] == said


def test_fusion_c9_a_body_without_instructions() -> None:
    nodes = (A, alu("t", "neg", "a"), node("w", "assign", "a", "t"))
    back = elementwise("k", "move", writes("a", line(), node="w"), "t", provenance=("w",))
    made = elementwise("t", "neg", writes("t", line(), node="t"), reads("a", line()), provenance=("t",))
    assert isinstance(made, Kernel)
    hollow = replace(made, bodies=(Body(extents=(4,), instructions=()),))
    found = findings(schedule((*given("a"), made_buffer("t")), [hollow, back], graph(*nodes, results=["w"])))
    assert found["bodies.C1"] == "broken"


@pytest.mark.parametrize(("label", "said"), [("x", "broken"), (None, "silent")])
def test_fusion_c1_a_value_that_a_kernel_of_its_own_moves(label: str | None, said: str) -> None:
    nodes = (A, B, alu("x", "add", "a", "b"), alu("y", "neg", "x"))
    items = [
        elementwise("x", "add", writes("s", line(), node="x"), "a", "b", provenance=("x",)),
        elementwise("again", "move", writes("t", line(), node=label), "s"),
        elementwise("y", "neg", writes("y", line(), node="y"), "t", provenance=("y",)),
    ]
    buffers = (*given("a", "b"), *map(made_buffer, "sty"))
    assert findings(schedule(buffers, items, graph(*nodes, results=["y"]), {"y": "y"}))["fusion.C1"] == said


@pytest.mark.parametrize(("source", "said"), [("a", "silent"), ("b", "held")])
def test_order_c5_a_reduce_computed_again_by_what_says_nothing(source: str, said: str) -> None:
    point = (Affine(extents=(4,), strides=(0,)),)
    code = (Load(access=0), Reduce(op="add", of=0, axes=(0,)), Store(access=1, of=1))
    nodes = [A, B, *(node(f"s{of}", "reduce", of, shape=(), arg=(0,), fold="add") for of in "ab")]
    kept, again = (
        opaque(id, reads(of, line()), writes(id, point, node=label), bodies=(Body(extents=(4,), instructions=code),),
               provenance=() if label is None else (label,))
        for id, of, label in (("t", "a", "sa"), ("u", source, None))
    )  # fmt: skip
    buffers = (*given("a", "b"), made_buffer("t", 1), made_buffer("u", 1))
    made = schedule(buffers, [kept, again], graph(*nodes, results=["sa", "sb"]), {"sa": "t", "sb": "u"})
    assert findings(made)["order.C5"] == said


def test_communication_c10_nobody_says_in_which_allocations_buffers_lie() -> None:
    known, other = in_memory_that_lasts(), in_memory_that_lasts(16)
    unknown = replace(known, buffers=tuple(replace(each, allocation="") for each in known.buffers))
    pairs = ((known, known), (unknown, unknown), (known, other))
    said = [judge_two(first, second, "rerun")[0].finding for first, second in pairs]
    assert said == ["held", "silent", "broken"]
