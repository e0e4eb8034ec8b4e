"""Small kernels of several ranks as one command: in every world, dtype and form, and never past what they wait for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.graph.node import Buffer, whole
from conformance.backends.opencl.graph.operations import collective
from conformance.backends.opencl.lower import lowering
from conformance.backends.opencl.schedule.batch import batched
from conformance.backends.opencl.schedule.item import Barrier, Item, Kernel
from conformance.backends.opencl.schedule.schedule import schedule
from conformance.backends.opencl.settings import Algorithm, Settings
from tests.backends.opencl.conftest import OpenBackend

TILED = {"axis": 0, "tiled": True}


def items(world: int, size: int, op: str = "all_reduce", how: Algorithm = "direct", **attrs: Any) -> tuple[Item, ...]:
    blocks = tuple(whole(Buffer(rank, "float32", size, "x"), (size,)) for rank in range(world))
    group = tuple(range(world))
    made = collective(op, blocks, attrs or {"op": "sum"}, (group,))
    return schedule(tuple(lowering(made, group, how).values()), 128).items


def joined(made: tuple[Item, ...], **settings: int) -> tuple[list[int], list[int]]:
    """Return how many parts each command has, and which one each item is in."""
    found, of = batched(made, lambda device: device // 8, Settings(**settings))
    return [len(each.works) if isinstance(each, Kernel) else 0 for each in found], list(of)


def test_ranks_on_one_device_are_one_command() -> None:
    assert joined(items(4, 1024)) == ([4], [0, 0, 0, 0])
    assert joined(items(16, 1024)) == ([8, 8], [0] * 8 + [1] * 8)
    assert joined(items(4, 1024), batch_below=0) == ([1] * 4, [0, 1, 2, 3])
    # Four ranks each read and write 4 times 256 elements.
    assert joined(items(4, 1024), batch_below=4 * 2048) == ([3, 1], [0, 0, 0, 1])


def test_what_waits_for_one_of_them_is_none_of_them() -> None:
    made = items(4, 1024, how="ring")
    parts, of = joined(made)
    assert len(made) == 40
    # A fold of each rank in each step, and what gathers four parts on each rank; copies stay as they are.
    assert sorted(parts) == [0] * 24 + [4] * 3 + [16]
    assert all(of[each] < of[number] for number, item in enumerate(made) for each in item.after)


def test_no_kernel_passes_a_barrier() -> None:
    one, two, *rest = items(4, 1024)
    made = (one, Barrier(1, (), (0,)), two, *rest)
    found, of = batched(made, lambda _: 0, Settings())
    assert of == (0, 1, 2, 2, 2)
    assert [each.after for each in found] == [(), (0,), (1,)]


def test_runs_that_are_long_together_stream() -> None:
    def body(size: int, **attrs: Any) -> str:
        (found,), _ = batched(items(4, size, **attrs), lambda _: 0, Settings())
        assert isinstance(found, Kernel)
        return found.body.kernel

    assert body(1024) == "joint_stream_sum_float32_float32_4_4"
    assert body(512) == "fold_float32_float32"
    assert body(256, op="all_gather", **TILED) == "joint_stream_move_4_4_8_1"
    assert body(8, op="all_gather", **TILED) == "joint_move_4"


@pytest.mark.parametrize("size", [1, 7, 96])
@pytest.mark.parametrize("world", [1, 3, 8, 9, 17])
@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128"])
def test_values_are_those_of_the_reference(
    world: int, size: int, dtype: str, opencl: OpenBackend, make_case: Any, agree: Any
) -> None:
    blocks = [np.random.default_rng(rank).integers(-3, 4, world * size).astype(dtype) for rank in range(world)]
    for layouts in (("contiguous",) * world, ("offset",) * world, ("strided", *("contiguous",) * (world - 1))):
        for op, attrs in (
            ("all_reduce", {"op": "sum"}),
            ("reduce_scatter", {"op": "product", **TILED}),
            ("all_gather", TILED),
            ("all_to_all", {"split_axis": 0, "concat_axis": 0, "tiled": True}),
        ):
            case = make_case(op, blocks, layouts=layouts, **attrs)
            agree(case, opencl().execute(case))
