"""Other legal orders of a schedule."""

from __future__ import annotations

from itertools import pairwise

import pytest

from conformance.backends.opencl.graph.node import Buffer, whole
from conformance.backends.opencl.graph.operations import collective
from conformance.backends.opencl.lower import lowering
from conformance.backends.opencl.schedule.item import Barrier
from conformance.backends.opencl.schedule.legal_orders import reordered, turn_of
from conformance.backends.opencl.schedule.schedule import Schedule, schedule
from conformance.backends.opencl.settings import ORDER, Settings, from_environment

RANKS = (0, 1, 2, 3)


def made(barriers: bool = False) -> Schedule:
    blocks = tuple(whole(Buffer(rank, "int32", 96, "x"), (96,)) for rank in RANKS)
    results = tuple(lowering(collective("all_reduce", blocks, {"op": "sum"}, (RANKS,)), RANKS, "ring").values())
    stages = {block.node: 1 for block in results} if barriers else {}
    return schedule(results, 128, stages, ((RANKS,),) if barriers else ())


def test_items_come_in_another_order_after_all_they_wait_for() -> None:
    plain, other = made(), reordered(made(), {}, 1)
    assert sorted(len(item.after) for item in plain.items) == sorted(len(item.after) for item in other.items)
    assert [item.accesses for item in plain.items] != [item.accesses for item in other.items]
    assert all(each < number for number, item in enumerate(other.items) for each in item.after)


def test_a_seed_gives_one_order() -> None:
    plain = made()
    first, again, other = (reordered(plain, {}, seed).items for seed in (1, 1, 2))
    assert [item.accesses for item in first] == [item.accesses for item in again]
    assert [item.accesses for item in first] != [item.accesses for item in other]


@pytest.mark.parametrize("seed", range(5))
def test_nothing_crosses_a_barrier_of_its_device(seed: int) -> None:
    plain = made(barriers=True)
    at = {id(item.accesses): number for number, item in enumerate(plain.items)}
    for rank in RANKS:
        fence = next(n for n, item in enumerate(plain.items) if isinstance(item, Barrier) and item.device == rank)
        other = [item for item in reordered(plain, {}, seed).items if item.device == rank]
        middle = next(n for n, item in enumerate(other) if isinstance(item, Barrier))
        assert all((at[id(item.accesses)] < fence) == (n < middle) for n, item in enumerate(other) if item.accesses)


@pytest.mark.parametrize("seed", range(5))
def test_the_items_of_a_collective_stay_in_a_row(seed: int) -> None:
    plain = made()
    written = [next(access.node for access in item.accesses if access.write) for item in plain.items]
    turns = {node: (number // 5, 0) for number, node in enumerate(written)}
    order = [turn_of(item, turns) for item in reordered(plain, turns, seed).items]
    assert len([1 for one, two in pairwise(order) if one != two]) == len(set(order)) - 1


def test_the_environment_names_a_seed() -> None:
    assert from_environment({ORDER: "3"}) == Settings(order=3)
    with pytest.raises(ValueError, match="CONFORMANCE_OPENCL_ORDER is 'x'; it must be a seed"):
        from_environment({ORDER: "x"})
