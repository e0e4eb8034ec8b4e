"""The tree: its shape, its association, and the ways blocks take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.graph.node import Buffer, Copy, whole
from conformance.backends.opencl.graph.operations import collective
from conformance.backends.opencl.lower import lowering
from conformance.backends.opencl.lower.tree import path
from conformance.backends.opencl.schedule.order import reachable


@pytest.mark.parametrize("size", range(1, 9))
def test_every_way_begins_at_the_root_and_ends_where_it_should(size: int) -> None:
    for source in range(size):
        for destination in range(size):
            way = path(source, destination, size)
            assert (way or [source])[-1] == destination
            assert len(way) <= size.bit_length() - 1 or size == 1
            assert source not in way


def test_partial_sums_rise_from_the_leaves(opencl: Any, make_case: Any, values: Any) -> None:
    huge, blocks = np.float32(2**24), [np.full(1, x, np.float32) for x in (1, 2**24, 1, 1, -(2**24))]
    seen = opencl(force="tree").execute(make_case("all_reduce", blocks, op="sum"))
    # Member 1 has children 3 and 4, member 0 has 1 and 2: (1 + ((huge + 1) - huge)) + 1.
    assert values(seen)[0].tolist() == [1 + float((huge + np.float32(1)) - huge) + 1]
    assert all(block.tolist() == values(seen)[0].tolist() for block in values(seen))


def test_a_broadcast_copies_once_to_every_member_from_its_parent() -> None:
    ranks = tuple(range(7))
    blocks = tuple(whole(Buffer(rank, "int32", 8, "x"), (8,)) for rank in ranks)
    made = collective("broadcast", blocks, {"root": 2}, (ranks,))
    copies = [n for n in reachable(tuple(lowering(made, ranks, "tree").values())) if isinstance(n, Copy)]
    assert sorted((copy.source.device, copy.device) for copy in copies) == [
        (2, 3), (2, 4), (3, 5), (3, 6), (4, 0), (4, 1),
    ]  # fmt: skip


def test_a_reduction_to_a_root_rises_to_it_and_goes_no_further() -> None:
    ranks = tuple(range(6))
    blocks = tuple(whole(Buffer(rank, "int32", 8, "x"), (8,)) for rank in ranks)
    made = collective("reduce", blocks, {"op": "sum", "root": 4}, (ranks,))
    found = lowering(made, ranks, "tree")
    assert list(found) == [4]
    copies = [node for node in reachable(tuple(found.values())) if isinstance(node, Copy)]
    assert len(copies) == 5
    assert all(copy.source.device != 4 for copy in copies)
