"""What a clause says where labels, provenance or bodies are missing: of each item alone, and never that it is held."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

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
    writes,
)
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.kernel_body import Body, Cast, Load, Reduce, Store
from conformance.cases.schedule.schedule import Access, Collective, Item, Kernel, Schedule
from conformance.cases.schedule_error import ScheduleError
from conformance.judging.schedules.clause import Relation
from conformance.judging.schedules.verdict import read
from conformance.specs.schedules import judge, judge_two
from tests.specs.schedules.all_reduces import naive

A, B, ONE = stored("a"), stored("b"), constant("1")


def findings(made: Schedule) -> dict[str, str]:
    return {each.clause: each.finding for each in judge(made)}


def finding(clause: str, *schedules: Schedule, relation: Relation) -> str:
    return next(each.finding for each in judge_two(*schedules, relation) if each.clause == clause)


def sum_and_product(items: list[Item], z: str, y: str) -> Schedule:
    nodes = (A, B, alu("z", "add", "a", "b"), alu("y", "mul", "a", "b"))
    buffers = (*given("a", "b"), buffer("t0"), buffer("t1"))
    return schedule(buffers, items, graph(*nodes, results=["z", "y"]), {"z": z, "y": y})


def two_kernels(**labels: str) -> list[Item]:
    return [opaque(f"k{n}", reads("a"), reads("b"), writes(f"t{n}", node=labels.get(f"t{n}"))) for n in range(2)]


def test_order_c2_places_against_the_labels_of_the_writes() -> None:
    right, wrong = (sum_and_product(two_kernels(t0="z", t1="y"), *at) for at in (("t0", "t1"), ("t1", "t0")))
    assert (findings(right)["order.C2"], findings(wrong)["order.C2"]) == ("held", "broken")
    assert findings(sum_and_product(two_kernels(), "t0", "t1"))["order.C2"] == "silent"


def test_order_c2_a_result_in_the_buffer_of_another() -> None:
    assert findings(sum_and_product(two_kernels(t0="z")[:1], "t0", "t0"))["order.C2"] == "broken"


def test_movement_c2_a_copy_of_storage_that_has_the_values_of_computed_movement() -> None:
    nodes = (A, node("f", "flip", "a", arg=(0,)), alu("z", "max", "f", "f"), node("m", "reshape", "z", arg=(2, 2)))
    moved = (replace(nodes[3], shape=(2, 2)), node("w", "flip", "m", shape=(2, 2), arg=(0,)))
    back = line(offset=3, stride=-1)
    copied = Body(extents=(4,), instructions=(Load(access=0), Store(access=1, of=0)))
    items = [
        opaque("sent", reads("a", back), writes("t", line()), bodies=(copied,)),
        elementwise("made", "max", writes("y", line(), node="z"), reads("a", back), reads("a", back)),
    ]
    buffers = (*given("a"), buffer("t"), buffer("y"))
    made = schedule(buffers, items, graph(*nodes[:3], *moved, results=["z"]), {"z": "y"})
    assert findings(made)["movement.C2"] != "broken"
    named = replace(items[0], accesses=(items[0].accesses[0], writes("t", line(), node="m")))
    assert findings(replace(made, items=(named, items[1])))["movement.C2"] == "broken"


def test_order_c2_what_is_moved_or_made_again_is_the_same_value() -> None:
    nodes = (A, ONE, alu("z", "add", "a", "1"), node("y", "flip", "z", arg=(0,)), alu("w", "add", "1", "a"))
    item = opaque("k", reads("a"), writes("t", node="z"))
    backwards = (Affine(extents=(4,), strides=(-1,), offset=3),)
    made = schedule((*given("a"), buffer("t")), [item], graph(*nodes, results=["w"]), {"w": "t"})
    flipped = replace(made, graph=graph(*nodes, results=["y"]), places=())
    flipped = replace(flipped, places=(replace(made.places[0], node="y", map=backwards),))
    assert [findings(each)["order.C2"] for each in (made, flipped)] == ["held", "held"]


def test_order_c2_a_map_that_shows_one_element_everywhere() -> None:
    nodes = (A, ONE, alu("z", "add", "a", "1"), node("s", "shrink", "z", shape=(1,), arg=((1, 2),)))
    nodes = (*nodes, node("y", "expand", "s"), alu("w", "add", "1", "a"))
    item = opaque("k", reads("a"), writes("t", node="z"))

    def found(result: str) -> str:
        made = schedule((*given("a"), buffer("t")), [item], graph(*nodes, results=[result]), {result: "t"})
        everywhere = (Affine(extents=(4,), strides=(0,), offset=1),)
        return findings(replace(made, places=(replace(made.places[0], map=everywhere),)))["order.C2"]

    assert (found("y"), found("w")) == ("held", "broken")


def test_order_c2_a_pad_that_a_map_shows_has_zeros_that_nobody_wrote() -> None:
    nodes = (A, ONE, alu("z", "add", "a", "1"), node("y", "pad", "z", shape=(6,), arg=((1, 1),)))
    item = opaque("k", reads("a"), writes("t", node="z"))
    made = schedule((*given("a"), buffer("t")), [item], graph(*nodes, results=["y"]), {"y": "t"})
    masked = (Affine(extents=(6,), strides=(1,), offset=-1, mask=((1, 5),)),)
    made = replace(made, places=(replace(made.places[0], map=masked),))
    assert findings(made)["order.C2"] in ("held", "silent")


def test_order_c2_a_map_may_show_an_element_again_in_the_place_of_another() -> None:
    nodes = (A, ONE, alu("z", "add", "a", "1"), node("s", "shrink", "z", shape=(2,), arg=((1, 3),)))
    nodes = (*nodes, node("e", "reshape", "s", shape=(2, 1), arg=(2, 1)), node("y", "expand", "e", shape=(2, 2)))
    made = schedule((*given("a"), buffer("t")), [opaque("k", reads("a"), writes("t", node="z"))],
                    graph(*nodes, results=["y"]), {"y": "t"})  # fmt: skip
    shown = (Affine(extents=(2, 2), strides=(1, 0), offset=1),)
    assert findings(replace(made, places=(replace(made.places[0], map=shown),)))["order.C2"] == "held"


def test_order_c2_a_bitcast_is_where_its_source_is() -> None:
    bits = node("y", "bitcast", "z", dtype="int32")
    nodes = (A, ONE, alu("z", "add", "a", "1"), bits)
    item = opaque("k", reads("a"), writes("t", node="z"))
    made = schedule((*given("a"), buffer("t")), [item], graph(*nodes, results=["y"]), {"y": "t"})
    assert findings(made)["order.C2"] in ("held", "silent")
    other = replace(made, graph=graph(*nodes[:3], alu("w", "mul", "a", "a"), bits, results=["y"]))
    wrong = replace(other, items=(replace(item, accesses=(reads("a"), writes("t", node="w"))),))
    assert findings(wrong)["order.C2"] == "broken"


def forced(item: Item) -> Schedule:
    nodes = (A, ONE, node("c", "copy", "a", arg=True, device="d1"), constant("2", device="d1"))
    nodes = (*nodes, alu("y", "add", "c", "2", device="d1"))
    buffers = (*given("a"), buffer("t", device="d1", preexisting=True), buffer("y", device="d1"))
    return schedule(buffers, [item], graph(*nodes, results=["y"]), {"y": "y"})


def test_copies_c7_a_name_in_provenance_makes_no_copy() -> None:
    def item(**rest: Any) -> Kernel:
        return elementwise("k", "add", writes("y", line(), **rest), "t", 1.0, device="d1", provenance=("c", "y"))

    assert findings(forced(item(node="y")))["copies.C7"] == "broken"
    assert findings(forced(item()))["copies.C7"] == "silent"


def test_copies_c7_the_name_of_a_copy_that_says_it_is_another_value_makes_no_copy() -> None:
    nodes = (A, B, node("c", "copy", "a", arg=True, device="d1"), node("d", "copy", "b", device="d1"))
    nodes = (*nodes, alu("y", "add", "c", "d", device="d1"))

    def made(label: str | None) -> Schedule:
        last = elementwise("k", "add", writes("y", line(), node="y"), "t", "u", device="d1", provenance=("y",))
        items: list[Item] = [copy("m", "b", writes("t", node=label), provenance=("c", "d")), last]
        buffers = (*given("a", "b"), buffer("t", device="d1"), buffer("u", device="d1", preexisting=True))
        return schedule((*buffers, buffer("y", device="d1")), items, graph(*nodes, results=["y"]), {"y": "y"})

    assert findings(made("d"))["copies.C7"] == "broken"
    assert findings(made(None))["copies.C7"] == "held"


def summed_twice(inner: str, outer: str) -> Schedule:
    halves = {"dtype": "float16"}
    summed = node("y", "reduce", "a", shape=(), arg=(0, 1), fold="add", acc="float32", **halves)
    code = (
        Load(access=0), Cast(of=0, dtype="float32"), Reduce(op="add", of=0, axes=(1,), acc=inner),
        Reduce(op="add", of=2, axes=(0,), acc=outer), Store(access=1, of=3),
    )  # fmt: skip
    rows = (Affine(extents=(2, 2), strides=(2, 1)),)
    at = (reads("a", rows), writes("y", (Affine(extents=(2, 2), strides=(0, 0)),), node="y"))
    item = Kernel(id="k", device="d0", accesses=at, bodies=(Body(extents=(2, 2), instructions=code),))
    nodes = (stored("a", (2, 2), **halves), summed)
    buffers = (buffer("a", 4, "float16", preexisting=True), buffer("y", 1, "float16"))
    return schedule(buffers, [item], graph(*nodes, results=["y"]), {"y": "y"})


def test_splits_c4_each_fold_is_wide() -> None:
    assert findings(summed_twice("float32", "float32"))["splits.C4"] == "held"
    assert findings(summed_twice("", "float32"))["splits.C4"] == "broken"


def in_order(*ids: str, program: str = "", **labels: str) -> Schedule:
    items = [replace(each, id=name, program=program) for name, each in zip(ids, two_kernels(**labels), strict=True)]
    made = sum_and_product(items, "t0", "t1")
    return made if ids == ("k0", "k1") else replace(made, items=made.items[::-1])


def test_order_c8_opaque_kernels_are_told_apart_by_their_labels() -> None:
    labels = {"t0": "z", "t1": "y"}
    right, turned = in_order("k0", "k1", **labels), in_order("k1", "k0", **labels)
    assert finding("order.C8", right, right, relation="again") == "held"
    assert finding("order.C8", right, turned, relation="again") == "broken"
    assert finding("order.C8", in_order("k0", "k1"), in_order("k1", "k0"), relation="again") == "silent"


def test_order_c7_opaque_kernels_of_other_values() -> None:
    right, other = in_order("k0", "k1", t0="z", t1="y"), in_order("k0", "k1", t0="z", t1="z")
    assert finding("order.C7", right, other, relation="reordered") == "broken"


def test_variables_c7_another_value_compiles_another_program() -> None:
    made = replace(in_order("k0", "k1", program="sum_3"), variables={"n": {"low": 1, "high": 4}})
    other = replace(in_order("k0", "k1", program="sum_4"), variables=made.variables)
    assert finding("variables.C7", made, other, relation="rebound") == "broken"
    assert finding("variables.C7", made, made, relation="rebound") == "held"


def filled(value: float) -> list[Item]:
    return [
        elementwise("f", "move", writes("e", line()), value),
        elementwise("k", "add", writes("y", line(), node="y"), "a", 1.0, provenance=("y",)),
    ]


def test_no_kernel_c9_a_fill_without_a_label_of_a_buffer_asked_for_empty() -> None:
    nodes = (A, ONE, node("e", "buf", arg="e"), alu("y", "add", "a", "1"))
    made = schedule((*given("a"), buffer("e"), buffer("y")), filled(0.0), graph(*nodes, results=["y", "e"]), {"y": "y"})
    assert findings(made)["no_kernel.C9"] == "broken"


def test_no_kernel_c1_a_constant_that_is_filled_without_a_label() -> None:
    nodes = (A, ONE, alu("y", "add", "a", "1"))
    made = schedule((*given("a"), buffer("e"), buffer("y")), filled(1.0), graph(*nodes, results=["y", "1"]), {"y": "y"})
    bare = replace(made, items=(opaque("f", writes("e")), made.items[1]))
    assert (findings(made)["no_kernel.C1"], findings(bare)["no_kernel.C1"]) == ("broken", "silent")


def test_no_kernel_c1_two_halves_of_a_constant_without_labels() -> None:
    nodes = (A, ONE, node("w", "expand", "1", shape=(4,)), alu("y", "add", "a", "1"))
    halves = [(Affine(extents=(2,), strides=(1,), offset=at),) for at in (0, 2)]
    fills = [elementwise(f"f{at}", "move", writes("e", half), 1.0, shape=(2,)) for at, half in enumerate(halves)]
    last = elementwise("k", "add", writes("y", line(), node="y"), "a", 1.0, provenance=("y",))
    buffers = (*given("a"), buffer("e"), buffer("y"))
    made = schedule(buffers, [*fills, last], graph(*nodes, results=["y", "w"]), {"y": "y", "w": "e"})
    assert findings(made)["no_kernel.C1"] == "silent"


@pytest.mark.parametrize(("forced", "said"), [(False, "broken"), (True, "silent")])
def test_no_kernel_c1_a_constant_that_a_copy_takes(forced: bool, said: str) -> None:
    nodes = (ONE, node("c", "copy", "1", arg=True if forced else None, device="d1"))
    items: list[Item] = [
        elementwise("f", "move", writes("e", line(), node="1"), 1.0),
        copy("m", "e", writes("c", node="c")),
    ]
    made = schedule((buffer("e"), buffer("c", device="d1")), items, graph(*nodes, results=["c"]), {"c": "c"})
    assert findings(made)["no_kernel.C1"] == said


def assigned(*items: Item, target: int = 4) -> dict[str, str]:
    nodes = [A, B, node("v", "shrink", "a", shape=(target,), arg=((0, target),)), constant("1", shape=(target,))]
    nodes.append(node("w", "assign", "v", "1", shape=(target,)))
    return findings(schedule(given("a", "b"), items, graph(*nodes, results=["w"])))


def test_order_c4_what_is_written_twice_without_a_label() -> None:
    nodes = (A, ONE, alu("y", "add", "a", "1"))
    items = [opaque(f"k{n}", reads("a"), writes("y", node=None if n else "y")) for n in range(2)]
    made = schedule((*given("a"), buffer("y")), items, graph(*nodes, results=["y"]), {"y": "y"})
    once = replace(made, items=made.items[:1])
    assert [findings(each)["order.C4"] for each in (made, once)] == ["silent", "held"]


def test_assign_c9_to_c11_writes_without_labels() -> None:
    halves = [(Affine(extents=(1,), strides=(1,), offset=at),) for at in (0, 1)]
    done = opaque("k", writes("a", halves[0], node="w"))
    other = opaque("l", writes("a", halves[1]))
    assert assigned(done, target=2)["assign.C10"] == "broken"
    assert assigned(done, other, target=2)["assign.C10"] == "silent"
    assert assigned(done, opaque("l", writes("a")), target=2)["assign.C9"] == "silent"


def test_assign_c12_a_label_excuses_no_other_storage() -> None:
    right, wrong = (opaque("k", *(writes(at, node="w") for at in each)) for each in (("a",), ("a", "b")))
    assert [assigned(each)["assign.C12"] for each in (right, wrong)] == ["held", "broken"]


def test_assign_c13_what_writes_no_byte_and_says_nothing() -> None:
    nodes = (A, node("v", "shrink", "a", shape=(0,), arg=((0, 0),)), constant("0", shape=(0,)))
    nodes = (*nodes, node("w", "assign", "v", "0", shape=(0,)), ONE, alu("y", "add", "a", "1"))
    items = [
        opaque("k", reads("a"), writes("y", node="y")),
        opaque("l", writes("a", (Affine(extents=(0,), strides=(1,)),))),
    ]
    made = schedule((*given("a"), buffer("y")), items, graph(*nodes, results=["y"]), {"y": "y"})
    assert findings(made)["assign.C13"] == "silent"
    assert findings(replace(made, items=made.items[:1]))["assign.C13"] == "held"


def test_fusion_c1_two_kernels_of_which_one_has_no_label() -> None:
    nodes = (A, B, ONE, alu("s", "add", "a", "b"), alu("y", "add", "s", "1"))
    items = [
        elementwise("k", "add", writes("t", line()), "a", "b"),
        elementwise("l", "add", writes("y", line(), node="y"), "t", 1.0, provenance=("y",)),
    ]
    made = schedule((*given("a", "b"), buffer("t"), buffer("y")), items, graph(*nodes, results=["y"]), {"y": "y"})
    unknown = replace(made, items=(opaque("k", reads("a"), reads("b"), writes("t")), items[1]))
    assert (findings(made)["fusion.C1"], findings(unknown)["fusion.C1"]) == ("broken", "silent")


@pytest.mark.parametrize("word", ["tree", "direct"])
def test_copies_c8_a_word_permits_what_it_needs(word: str) -> None:
    made = naive()
    (item,) = (each for each in made.items if isinstance(each, Collective))
    assert findings(replace(made, items=(replace(item, algorithm=word),)))["copies.C8"] == "broken"


def test_form_c3_an_unknown_algorithm() -> None:
    made = naive()
    (item,) = (each for each in made.items if isinstance(each, Collective))
    with pytest.raises(ScheduleError, match="unknown algorithm 'clever'; known are naive, one_shot, ring"):
        read(replace(made, items=(replace(item, algorithm="clever"),)))


def test_copies_c2_a_staging_copy_with_the_label_of_a_copy_that_is_not_forced() -> None:
    def made(**rest: Any) -> Schedule:
        nodes = (A, node("c", "copy", "a", **rest))
        item = copy("k", "a", writes("c", node="c"))
        return schedule((*given("a"), buffer("c")), [item], graph(*nodes, results=["c"]), {"c": "c"})

    assert (findings(made())["copies.C2"], findings(made(arg=True))["copies.C2"]) == ("broken", "held")


def clobbered(*, label: str | None = None) -> Schedule:
    ends = ("d0", "d1")
    nodes = [stored(f"x{d}", device=at) for d, at in enumerate(ends)]
    nodes += [
        node(f"r{d}", "collective", "x0", "x1", device=at, arg="all_reduce", members=ends, attrs={"op": "sum"})
        for d, at in enumerate(ends)
    ]
    nodes.append(node("z", "alu", "x0", "x0", arg="mul"))
    own: tuple[Access, ...] = (reads("x0"), reads("x1"), writes("x0"), writes("x1"))
    meeting = Collective(
        id="m", op="all_reduce", attrs={"op": "sum"}, participants=ends, group="g", accesses=own,
        provenance=("r0", "r1"),
    )  # fmt: skip
    buffers = [buffer(f"x{d}", device=at, preexisting=True) for d, at in enumerate(ends)]
    kernel = opaque("k", reads("x0"), writes("z", node=label))
    at = {"z": "z", "r0": "x0", "r1": "x1"}
    return schedule([*buffers, buffer("z")], [meeting, kernel], graph(*nodes, results=list(at)), at)


@pytest.mark.parametrize("label", [None, "z"])
def test_waits_c5_an_opaque_kernel_reads_what_a_collective_overwrote(label: str | None) -> None:
    assert findings(clobbered(label=label))["waits.C5"] == "broken"
    nowhere = replace(clobbered(label=None), places=())
    assert findings(nowhere)["waits.C5"] == "silent"
    meeting, kernel = nowhere.items
    assert findings(replace(nowhere, items=(meeting, replace(kernel, provenance=("z",)))))["waits.C5"] == "broken"


def test_fusion_c6_half_of_a_contig_is_no_buffer_of_its_own() -> None:
    def made(count: int) -> Schedule:
        nodes = (A, ONE, alu("s", "add", "a", "1"), node("c", "contig", "s"), alu("y", "add", "c", "1"))
        half = elementwise(
            "k", "add", writes("c", line(count), node="c"), reads("a", line(count)), 1.0, shape=(count,),
            provenance=("s", "c"),
        )  # fmt: skip
        last = elementwise("l", "add", writes("y", line(), node="y"), "c", 1.0, provenance=("y",))
        buffers = (*given("a"), buffer("c"), buffer("y"))
        return schedule(buffers, [half, last], graph(*nodes, results=["y"]), {"y": "y"})

    assert [findings(made(count))["fusion.C6"] for count in (2, 4)] == ["broken", "held"]


def test_fusion_c8_a_costly_value_computed_for_each_without_provenance() -> None:
    names = ("a", "b", "c", "d")
    nodes = [stored(each) for each in names] + [ONE, alu("s", "add", "a", "b"), alu("t", "add", "s", "c")]
    nodes += [alu("u", "add", "t", "d"), alu("y", "add", "u", "1"), alu("z", "mul", "u", "u")]
    items = [opaque(f"k{each}", *map(reads, names), writes(each, node=each)) for each in "yz"]
    buffers = (*given(*names), buffer("y"), buffer("z"))
    made = schedule(buffers, items, graph(*nodes, results=["y", "z"]), {"y": "y", "z": "z"})
    assert findings(made)["fusion.C8"] == "broken"


def test_order_c5_and_copies_c5_are_silent_beside_an_item_that_says_nothing() -> None:
    nodes = (A, node("r", "reduce", "a", shape=(), arg=(0,), fold="add"), node("c", "copy", "a", device="d1"))
    items: list[Item] = [
        opaque("k", reads("a"), writes("r", node="r"), provenance=("r",)), copy("l", "a", writes("c", node="c")),
    ]  # fmt: skip
    buffers = (*given("a"), buffer("r", 1), buffer("c", device="d1"), buffer("s", 1), buffer("e", device="d1"))
    made = schedule(buffers, items, graph(*nodes, results=["r", "c"]), {"r": "r", "c": "c"})
    more = replace(made, items=(*items, opaque("m", reads("a"), writes("s")), copy("n", "a", "e")))
    told, untold = findings(made), findings(more)
    assert [told[each] for each in ("order.C5", "copies.C5")] == ["held", "held"]
    assert [untold[each] for each in ("order.C5", "copies.C5")] == ["silent", "silent"]
