"""Hazards over byte ranges, dead nodes, and the order of items."""

from __future__ import annotations

import itertools

import pytest

from conformance.backends.opencl.graph.node import Buffer, Copy, Join, Movement, Node, Part, whole
from conformance.backends.opencl.graph.operations import collective
from conformance.backends.opencl.graph.view import View
from conformance.backends.opencl.lower import lowering
from conformance.backends.opencl.schedule.hazards import Access, Hazards
from conformance.backends.opencl.schedule.item import Kernel, Transfer
from conformance.backends.opencl.schedule.schedule import schedule
from conformance.backends.opencl.settings import ALGORITHMS, Algorithm

RANKS = (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [("write", "read", True), ("read", "write", True), ("write", "write", True), ("read", "read", False)],
)
def test_only_two_reads_of_a_range_are_free(first: str, second: str, waits: bool) -> None:
    node, hazards = Node(0, "uint8", 64), Hazards()
    hazards.record(0, (Access(node, 0, 16, first == "write"),))
    assert hazards.record(1, (Access(node, 15, 32, second == "write"),)) == ((0,) if waits else ())


def test_ranges_that_only_touch_and_other_storages_are_no_hazard() -> None:
    node, other, hazards = Node(0, "uint8", 64), Node(0, "uint8", 64), Hazards()
    hazards.record(0, (Access(node, 0, 16, write=True),))
    assert hazards.record(1, (Access(node, 16, 32, write=True), Access(other, 0, 64, write=True))) == ()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_conflict_is_an_edge_to_an_earlier_item(algorithm: Algorithm) -> None:
    blocks = tuple(whole(Buffer(rank, "int32", 96, "x"), (96,)) for rank in RANKS)
    made = collective("all_reduce", blocks, {"op": "sum"}, (RANKS,))
    plan = schedule(tuple(lowering(made, RANKS, algorithm).values()), 128)
    for (early, one), (late, other) in itertools.combinations(enumerate(plan.items), 2):
        for a, b in itertools.product(one.accesses, other.accesses):
            if a.node is b.node and (a.write or b.write) and a.start < b.stop and b.start < a.stop:
                assert early in other.after
        assert all(number < late for number in other.after)


def test_a_copy_never_overlaps_its_source() -> None:
    blocks = tuple(whole(Buffer(rank, "int32", 96, "x"), (96,)) for rank in RANKS)
    made = collective("all_gather", blocks, {"axis": 0, "tiled": True}, (RANKS,))
    plans = [schedule(tuple(lowering(made, RANKS, algorithm).values()), 128) for algorithm in ALGORITHMS]
    transfers = [item for plan in plans for item in plan.items if isinstance(item, Transfer)]
    assert transfers
    assert all(item.source is not item.target for item in transfers)


def test_nodes_that_no_result_needs_and_empty_blocks_are_not_scheduled() -> None:
    used, unused = Buffer(0, "uint8", 4, "x"), Buffer(1, "uint8", 4, "x")
    Copy(0, "uint8", 4, unused, 0)
    empty = Join(0, "uint8", 0, (Part(View((0,), (1,)), whole(Buffer(0, "uint8", 0, "y"), (0,))),))
    plan = schedule((whole(used, (4,)), whole(empty, (0,))), 128)
    assert plan.nodes == (used,)


def test_a_join_of_more_storages_than_a_kernel_reads_takes_several_launches() -> None:
    sources = [Buffer(0, "uint8", 1, str(k)) for k in range(11)]
    parts = tuple(Part(View((1,), (1,), k), Movement(node, View((1,), (1,)))) for k, node in enumerate(sources))
    plan = schedule((whole(Join(0, "uint8", 11, parts), (11,)),), 128)
    assert [len(item.sources) for item in plan.items if isinstance(item, Kernel)] == [8, 3]
