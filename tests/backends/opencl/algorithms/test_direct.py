"""Sharded-direct: shards that several devices may write at once."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.graph.node import Buffer, whole
from conformance.backends.opencl.graph.operations import collective
from conformance.backends.opencl.lower import lowering
from conformance.backends.opencl.lower.direct import shards
from conformance.backends.opencl.schedule.item import Kernel
from conformance.backends.opencl.schedule.schedule import Schedule, schedule


def plan_of(elements: int, alignment: int) -> Schedule:
    blocks = tuple(whole(Buffer(rank, "float32", elements, "x"), (elements,)) for rank in range(4))
    made = collective("all_reduce", blocks, {"op": "sum"}, ((0, 1, 2, 3),))
    return schedule(tuple(lowering(made, (0, 1, 2, 3), "direct").values()), alignment)


@pytest.mark.parametrize("elements", [1, 31, 32, 33, 127, 128, 129, 1000])
@pytest.mark.parametrize("members", [1, 2, 3, 8])
def test_shards_cover_every_element_once_and_begin_aligned(elements: int, members: int) -> None:
    found = shards(elements, members, 4)
    assert list(itertools.chain.from_iterable(range(first, first + size) for first, size in found)) == list(
        range(elements)
    )
    assert all(first * 4 % 128 == 0 and size for first, size in found)
    assert len(found) <= members


def test_one_kernel_a_device_writes_its_shard_to_every_output() -> None:
    kernels = [item for item in plan_of(128, 128).items if isinstance(item, Kernel)]
    assert [kernel.device for kernel in kernels] == [0, 1, 2, 3]
    for kernel in kernels:
        assert [(target.node.device, target.first) for target in kernel.targets] == [
            (rank, 32 * kernel.device) for rank in range(4)
        ]


def test_shards_that_cannot_be_sub_buffers_get_storage_of_their_own() -> None:
    kernels = [item for item in plan_of(128, 4096).items if isinstance(item, Kernel)]
    assert len(kernels) == 8
    assert all(target.size == target.node.size for kernel in kernels for target in kernel.targets)


def test_no_device_writes_what_another_writes_or_reads_at_the_same_time() -> None:
    plan = plan_of(1000, 128)
    written = [(access, item) for item in plan.items for access in item.accesses if access.write]
    for (one, first), (other, second) in itertools.combinations(written, 2):
        if one.node is other.node:
            assert one.stop <= other.start or other.stop <= one.start, (first, second)
    assert len(plan.inputs) == 4


@pytest.mark.parametrize("elements", [1, 32, 33, 255, 257])
def test_uneven_shards_give_the_rank_order_fold(elements: int, opencl: Any, make_case: Any, agree: Any) -> None:
    random = np.random.default_rng(elements)
    blocks = [random.standard_normal(elements).astype(np.float32) for _ in range(5)]
    case = make_case("all_reduce", blocks, layouts=("flipped", "offset", "strided", "contiguous", "flipped"), op="sum")
    agree(case, opencl(force="direct").execute(case))
