"""What is broken stays so where it is said otherwise: larger buffers, accesses in another order, one kernel more."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from conformance.cases.schedule.builders import (
    alu,
    buffer,
    copy,
    elementwise,
    given,
    graph,
    line,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.kernel_body import Body, Load, Store
from conformance.cases.schedule.schedule import Access, Collective, Copy, Item, Kernel, Schedule, Wait
from conformance.judging.schedules.clause import Relation
from conformance.qualification.violations import violations
from conformance.specs.schedules import judge, judge_two

WRONG = {each.name: each for each in violations()}


def violation(name: str) -> Schedule:
    made = WRONG[name].make()
    assert isinstance(made, Schedule)
    return made


def finding(name: str, made: Schedule) -> str:
    return {each.clause: each.finding for each in judge(made)}[WRONG[name].breaks]


def rounded(made: Schedule, *names: str) -> Schedule:
    buffers = tuple(replace(each, size=each.size + 16) if each.id in names else each for each in made.buffers)
    return replace(made, buffers=buffers)


def with_item(made: Schedule, name: str, change: Callable[[Kernel], Item]) -> Schedule:
    return replace(made, items=tuple(change(e) if e.id == name and isinstance(e, Kernel) else e for e in made.items))


def test_movement_c1_from_a_buffer_that_is_larger_than_its_value() -> None:
    assert finding("reshape_as_a_kernel", rounded(violation("reshape_as_a_kernel"), "s")) == "broken"


def test_communication_c5_to_a_buffer_that_is_larger_than_its_value() -> None:
    name = "moved_to_a_second_communication_buffer"
    assert finding(name, rounded(violation(name), "z0", "z1")) == "broken"


@pytest.mark.parametrize("name", ["sum_of_three_in_two_kernels", "product_kept_for_its_sum", "movement_as_a_kernel"])
def test_fusion_c1_and_c2_and_movement_c3_by_way_of_memory_of_a_communicator(name: str) -> None:
    made = violation(name)
    placed = {place.buffer for place in made.places}
    between = {each.id for each in made.buffers if not each.preexisting and each.id not in placed}
    buffers = tuple(replace(each, communication="g") if each.id in between else each for each in made.buffers)
    assert finding(name, replace(made, buffers=buffers)) == "broken"


def test_waits_c6_a_clone_that_lists_first_what_it_writes() -> None:
    def turned(clone: Kernel) -> Kernel:
        body = replace(clone.bodies[0], instructions=(Load(access=1), Store(access=0, of=0)))
        return replace(clone, accesses=clone.accesses[::-1], bodies=(body,))

    made = violation("dead_source_cloned")
    clones = [each.id for each in made.items if isinstance(each, Kernel)]
    assert finding("dead_source_cloned", with_item(made, clones[-1], turned)) == "broken"


def test_splits_c5_each_kernel_that_folds_a_part() -> None:
    made = violation("split_into_few_parts")
    first = next(each for each in made.items if isinstance(each, Kernel))
    access = next(at for at, each in enumerate(first.accesses) if each.parts)
    enough = (*first.accesses[:access], replace(first.accesses[access], parts=8), *first.accesses[access + 1 :])
    before = replace(first, id="before", accesses=enough)
    assert finding("split_into_few_parts", replace(made, items=(before, *made.items))) == "broken"


def third(program: str, *, bodies: bool = True) -> Callable[[Schedule], Schedule]:
    """Return what adds a kernel that moves ``big`` to ``out``, twice as many elements."""

    def add(made: Schedule) -> Schedule:
        own: tuple[Access, ...] = (reads("big", line(8)), writes("out", line(8)))
        body = Body(extents=(8,), instructions=(Load(access=0), Store(access=1, of=0)))
        kernel = Kernel(id="third", device="d0", accesses=own, bodies=(body,) if bodies else (), program=program)
        buffers = (*made.buffers, buffer("big", 8, preexisting=True), buffer("out", 8))
        return replace(made, buffers=buffers, items=(kernel, *made.items))

    return add


@pytest.mark.parametrize("bodies", [True, False])
def test_dedup_c3_is_silent_of_what_cannot_be_tried(*, bodies: bool) -> None:
    name, right = "one_key_for_two_kernels", violation("one_kernel_compiled_twice")
    same = replace(right, items=tuple(replace(each, program="p") for each in right.items if isinstance(each, Kernel)))
    assert finding(name, same) == "held"
    assert finding(name, third("p", bodies=bodies)(same)) == "silent"
    assert finding(name, third("p", bodies=bodies)(violation(name))) == "broken"


def test_dedup_c3_is_silent_of_what_touches_elements_that_are_none() -> None:
    made = violation("one_key_for_two_kernels")
    own = (reads("a", line(4, 2)), writes("x", line(4, 2), node="x"))
    outside = with_item(made, made.items[0].id, lambda each: replace(each, accesses=own))
    assert finding("one_key_for_two_kernels", outside) == "silent"


def test_dedup_c2_is_silent_beside_one_without_a_body() -> None:
    made = violation("one_kernel_compiled_twice")
    first = made.items[0]
    assert isinstance(first, Kernel)
    again = replace(first, id="again", bodies=(), program="kernel_3")
    same = replace(made, items=tuple(replace(each, program="p") for each in made.items if isinstance(each, Kernel)))
    assert finding("one_kernel_compiled_twice", replace(same, items=(*same.items, again))) == "silent"


def twice_negated(source: str, *, started: bool = False, waits: int = 1) -> Schedule:
    """Return x = -a, y = -a and z = -x, or -y, of which x may be sent away under way."""
    nodes = (stored("a"), *(alu(name, "neg", of) for name, of in (("x", "a"), ("y", "a"), ("z", source))))
    made: list[Item] = [elementwise(name, "neg", writes(name, line()), "a") for name in ("x", "y")]
    made.append(elementwise("z", "neg", writes("z", line()), source))
    made.append(copy("c", "z", "there", handle="h" if started else None))
    made += [Wait(id=f"w{at}", handle="h") for at in range(waits if started else 0)]
    buffers = (*given("a"), *map(buffer, "xyz"), buffer("there", device="d1"))
    return schedule(buffers, made, graph(*nodes, results=["x", "y", "z"]), {name: name for name in "xyz"})


@pytest.mark.parametrize(
    "other",
    [twice_negated("y", started=True), twice_negated("x"), twice_negated("x", started=True, waits=2)],
    ids=["another source", "not only started", "waited for twice"],
)
def test_order_c8_items_are_what_they_take_when_and_how_they_are_waited_for(other: Schedule) -> None:
    first = twice_negated("x", started=True)
    named = replace(first, items=tuple(replace(each, id=f"again {each.id}") for each in first.items))
    found = [{e.clause: e.finding for e in judge_two(first, each, "again")}["order.C8"] for each in (named, other)]
    assert found == ["held", "broken"]


@pytest.mark.parametrize(("clause", "relation"), [("order.C8", "again"), ("order.C7", "reordered")])
def test_order_c7_and_c8_a_collective_by_another_algorithm(clause: str, relation: Relation) -> None:
    made = violation("another_algorithm_the_second_time")
    other = replace(made, items=tuple(replace(e, algorithm="") if isinstance(e, Collective) else e for e in made.items))
    found = [{e.clause: e.finding for e in judge_two(made, each, relation)}[clause] for each in (made, other)]
    assert found == ["held", "broken"]


@pytest.mark.parametrize("flag", ["held", "output"])
def test_communication_c9_a_part_that_is_seen_from_outside(flag: str) -> None:
    name = "result_in_memory_that_the_next_run_writes"
    made = violation(name)
    inside = [replace(each, output=False) if each.communication else each for each in made.buffers]
    whole = next(each for each in inside if each.communication)
    part = buffer("part", 2, base=whole.id, device=whole.device, **{flag: True})
    assert finding(name, replace(made, buffers=(*inside, part))) == "broken"
    assert finding(name, replace(made, buffers=tuple(inside))) == "held"


def test_communication_c18_by_way_of_a_view_that_is_not_to_be_fused() -> None:
    made = violation("fused_though_it_is_not_to_be")
    alone = {each.id for each in made.buffers if each.unfused}
    wholes = [replace(each, id=f"all {each.id}", unfused=False) for each in made.buffers if each.id in alone]
    views = [replace(each, base=f"all {each.id}") if each.id in alone else each for each in made.buffers]
    assert finding("fused_though_it_is_not_to_be", replace(made, buffers=(*wholes, *views))) == "broken"


def test_memory_c2_a_view_of_an_arena_that_is_read_afterwards() -> None:
    made = violation("held_buffer_planned")
    inside = tuple(replace(each, held=False) for each in made.buffers)
    arena = next(each for each in inside if each.id == "arena")
    view = replace(arena, id="view", base="arena", output=True)
    assert finding("held_buffer_planned", replace(made, buffers=(*inside, view))) == "broken"
    assert finding("held_buffer_planned", replace(made, buffers=inside)) != "broken"


@pytest.mark.parametrize("clause", ["splits.C4", "copies.C5"])
def test_splits_c4_and_copies_c5_by_what_items_say_that_they_compute(clause: str) -> None:
    def named(item: Item) -> Item:
        if not isinstance(item, Kernel | Copy):
            return item
        labels = tuple(dict.fromkeys(each.node for each in item.accesses if each.write and each.node is not None))
        bare = tuple(replace(each, node=None, parts=0) for each in item.accesses)
        return replace(item, accesses=bare, provenance=labels)

    name = next(each.name for each in WRONG.values() if each.breaks == clause)
    made = violation(name)
    assert finding(name, replace(made, items=tuple(named(each) for each in made.items))) == "broken"


def test_assign_c2_beside_local_memory_that_is_listed_first() -> None:
    code = (Load(access=1), Store(access=0, of=0), Store(access=2, of=0), Load(access=3), Store(access=4, of=3))
    own = (writes("tile", line()), reads("a", line()), writes("x", line()), reads("x", line()), writes("y", line()))
    kernel = Kernel(id="k", device="d0", accesses=own, bodies=(Body(extents=(4,), instructions=code),))
    buffers = (*given("a"), buffer("tile", local=True), *(buffer(name, output=True) for name in "xy"))
    apart = replace(kernel, accesses=(*own[:3], reads("a", line()), own[4]))
    found = [{e.clause: e.finding for e in judge(schedule(buffers, [each]))}["assign.C2"] for each in (kernel, apart)]
    assert found == ["broken", "silent"]
