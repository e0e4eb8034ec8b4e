"""The memory plan: values share storage only while none of them is needed."""

from __future__ import annotations

import itertools

import pytest

from conformance.backends.opencl.graph.node import Buffer, Node, whole
from conformance.backends.opencl.graph.operations import collective
from conformance.backends.opencl.lower import lowering
from conformance.backends.opencl.schedule.hazards import Access, Hazards
from conformance.backends.opencl.schedule.schedule import Schedule, schedule
from conformance.backends.opencl.settings import ALGORITHMS, Algorithm, Settings

RANKS = (0, 1, 2, 3)


def plan_of(algorithm: Algorithm, *, reuse: bool) -> Schedule:
    blocks = tuple(whole(Buffer(rank, "int32", 96, "x"), (96,)) for rank in RANKS)
    made = collective("all_reduce", blocks, {"op": "sum"}, (RANKS,))
    return schedule(tuple(lowering(made, RANKS, algorithm).values()), 128, settings=Settings(reuse=reuse))


def bytes_of(plan: Schedule, node: Node) -> range:
    start = plan.memory.offsets[node]
    return range(start, start + node.size * 4)


def meet(plan: Schedule, one: Node, other: Node) -> bool:
    mine, theirs = bytes_of(plan, one), bytes_of(plan, other)
    same = plan.places[one] == plan.places[other]
    return same and mine.start < theirs.stop and theirs.start < mine.stop


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_values_that_share_bytes_are_never_needed_at_once(algorithm: Algorithm) -> None:
    plan = plan_of(algorithm, reuse=True)
    used = {
        node: [n for n, item in enumerate(plan.items) if any(a.node is node for a in item.accesses)]
        for node in plan.places
    }
    for one, other in itertools.combinations(plan.places, 2):
        if plan.places[one] == plan.places[other]:
            assert one.device == other.device
        if meet(plan, one, other):
            assert used[one][-1] < used[other][0] or used[other][-1] < used[one][0]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_whoever_takes_bytes_waits_for_those_who_had_them(algorithm: Algorithm) -> None:
    plan = plan_of(algorithm, reuse=True)
    behind: list[set[int]] = []
    for item in plan.items:
        behind.append(set(item.after).union(*(behind[each] for each in item.after)))
    for (early, one), (late, other) in itertools.combinations(enumerate(plan.items), 2):
        for a, b in itertools.product(one.accesses, other.accesses):
            clash = a.start < b.stop and b.start < a.stop if a.node is b.node else meet(plan, a.node, b.node)
            if clash and (a.write or b.write):
                assert early in behind[late]


def test_reuse_saves_storage_and_can_be_turned_off() -> None:
    shared, apart = plan_of("ring", reuse=True), plan_of("ring", reuse=False)
    assert sum(shared.sizes) < sum(apart.sizes)
    assert len(set(apart.places.values())) == len(apart.places)


def test_inputs_and_results_have_storage_of_their_own() -> None:
    plan = plan_of("ring", reuse=True)
    ends = [place for node, place in plan.places.items() if isinstance(node, Buffer)]
    assert ends == [0, 1, 2, 3]
    assert [node for node, place in plan.places.items() if place in ends] == list(plan.inputs)


def test_a_value_waits_for_all_of_the_one_whose_storage_it_takes() -> None:
    early, late = (Buffer(0, "int32", 32, name) for name in ("early", "late"))
    for roots, behind in (({}, (0,)), ({late: early}, ())):
        hazards = Hazards({early: 0, late: 0}, roots)
        assert hazards.record(0, (Access(early, 64, 128, False),)) == ()
        assert hazards.record(1, (Access(late, 0, 64, True),)) == behind
