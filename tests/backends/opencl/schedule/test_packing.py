"""Storages that are laid together overlap nowhere, and arenas stay as they were."""

from __future__ import annotations

import itertools

import pytest

from conformance.backends.opencl.graph.node import Buffer, whole
from conformance.backends.opencl.graph.operations import collective
from conformance.backends.opencl.lower import lowering
from conformance.backends.opencl.schedule.packing import packed
from conformance.backends.opencl.schedule.schedule import Schedule, schedule
from conformance.backends.opencl.settings import ALGORITHMS, Algorithm

RANKS = (0, 1, 2, 3)
ALIGNMENT = 128


def plan_of(algorithm: Algorithm) -> Schedule:
    """Return the schedule of the sums of two values of 400 bytes a rank."""
    found = []
    for name in "xy":
        blocks = tuple(whole(Buffer(rank, "int32", 100, name), (100,)) for rank in RANKS)
        made = collective("all_reduce", blocks, {"op": "sum"}, (RANKS,))
        found += lowering(made, RANKS, algorithm).values()
    return schedule(tuple(found), ALIGNMENT)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_two_storages_overlap(algorithm: Algorithm) -> None:
    made = plan_of(algorithm)
    found = packed(made.memory, len(made.inputs), ALIGNMENT, 4096).memory
    own = [node for node, place in made.places.items() if place < made.memory.arenas and node not in made.roots]
    for one, other in itertools.combinations(own, 2):
        first, second = sorted((found.offsets[one], found.offsets[other]))
        assert found.places[one] != found.places[other] or first + 400 <= second
    assert all(found.offsets[node] % ALIGNMENT == 0 for node in own)
    assert all(found.offsets[node] + 400 <= found.sizes[found.places[node]] for node in own)


def test_each_device_has_one_storage_for_what_goes_in_and_one_for_what_comes_out() -> None:
    made = plan_of("ring")
    found, given = packed(made.memory, len(made.inputs), ALIGNMENT, 4096)
    assert (given, found.arenas) == (4, 8)
    assert found.sizes[:8] == (1024,) * 8
    assert {found.places[node] for node in made.inputs} == {0, 1, 2, 3}


def test_a_storage_has_no_more_than_the_most_bytes() -> None:
    made = plan_of("ring")
    assert packed(made.memory, len(made.inputs), ALIGNMENT, 1023).given == 8


def test_arenas_and_what_lies_in_another_storage_keep_their_places_in_them() -> None:
    made = plan_of("ring")
    found = packed(made.memory, len(made.inputs), ALIGNMENT, 4096).memory
    assert found.sizes[found.arenas :] == made.sizes[made.memory.arenas :]
    for node, root in made.roots.items():
        if root in made.places:
            assert found.places[node] == found.places[root]
    for node, place in made.places.items():
        if place >= made.memory.arenas:
            assert found.places[node] - found.arenas == place - made.memory.arenas
            assert found.offsets[node] == made.memory.offsets[node]
