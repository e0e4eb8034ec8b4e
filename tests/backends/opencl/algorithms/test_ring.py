"""The ring: its chunks, its association, and where its pieces end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.graph.node import Buffer, Copy, Join, Movement, needs, whole
from conformance.backends.opencl.graph.operations import collective
from conformance.backends.opencl.lower import lowering
from conformance.backends.opencl.lower.chunks import chunks
from conformance.backends.opencl.schedule.order import reachable


@pytest.mark.parametrize(
    ("elements", "members", "sizes"),
    [
        (1, 3, [1]),
        (3, 3, [1, 1, 1]),
        (7, 3, [3, 2, 2]),
        (12, 2, [8, 4]),
        (32, 3, [32]),
        (64, 4, [32, 32]),
        (160, 4, [64, 32, 32, 32]),
        (80, 3, [32, 32, 16]),
        (0, 4, []),
    ],
)
def test_chunks_are_multiples_of_the_largest_dividing_power_of_two_up_to_32(
    elements: int, members: int, sizes: list[int]
) -> None:
    found = chunks(elements, members)
    assert [stop - start for start, stop in found] == sizes
    assert [start for start, _ in found] == [sum(sizes[:i]) for i in range(len(sizes))]


def test_each_chunk_is_summed_in_the_order_it_travels(opencl: Any, make_case: Any, values: Any) -> None:
    huge, blocks = np.float32(2**24), [np.zeros(3, np.float32) for _ in range(3)]
    blocks[0][:], blocks[1][:], blocks[2][:] = huge, 1, 1
    seen = opencl(force="ring").execute(make_case("all_reduce", blocks, op="sum"))
    # Chunk i starts at member i: (huge + 1) + 1, (1 + 1) + huge, (1 + huge) + 1.
    assert values(seen)[0].tolist() == [huge, huge + 2, huge]
    assert all((block == values(seen)[0]).all() for block in values(seen))


def test_devices_copy_from_their_neighbour_only() -> None:
    blocks = tuple(whole(Buffer(rank, "int32", 64, "x"), (64,)) for rank in range(4))
    made = collective("all_reduce", blocks, {"op": "sum"}, ((0, 1, 2, 3),))
    results = tuple(lowering(made, (0, 1, 2, 3), "ring").values())
    copies = [node for node in reachable(results) if isinstance(node, Copy)]
    assert copies
    assert all(node.device == (node.source.device + 1) % 4 for node in copies)
    joins = [node for node in reachable(results) if isinstance(node, Join)]
    assert joins
    assert all(node.device == join.device for join in joins for node in needs(join))


def test_a_lone_member_keeps_its_block() -> None:
    block: Movement = whole(Buffer(0, "bool", 4, "x"), (4,))
    made = collective("all_reduce", (block,), {"op": "sum"}, ((0,),))
    (result,) = lowering(made, (0,), "ring").values()
    assert (result.node.dtype, result.node.size) == ("int32", 4)
