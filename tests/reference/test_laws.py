"""Algebraic laws that tie the operations to each other, on random blocks."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.dtypes import Array
from conformance.reference.all_gather import all_gather
from conformance.reference.all_reduce import all_reduce
from conformance.reference.all_to_all import all_to_all
from conformance.reference.broadcast import broadcast
from conformance.reference.permute import permute
from conformance.reference.reduce_scatter import reduce_scatter

WORLDS = pytest.mark.parametrize("world", [1, 2, 3, 5, 8])


def blocks_of(world: int, *shape: int) -> list[Array]:
    return list(np.random.default_rng(world).integers(-9, 9, (world, *shape)))


def everyone(world: int) -> tuple[tuple[int, ...], ...]:
    return (tuple(reversed(range(world))),)


@WORLDS
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather_after_scatter_sum_is_the_sum(world: int, axis: int) -> None:
    blocks, groups = blocks_of(world, 2 * world, 3 * world), everyone(world)
    pieces = reduce_scatter(blocks, op="sum", axis=axis, tiled=True, groups=groups)
    whole = all_gather(pieces, axis=axis, tiled=True, groups=groups)
    np.testing.assert_array_equal(whole, all_reduce(blocks, op="sum", groups=groups))


@WORLDS
def test_untiled_scatter_sum_is_the_sum_indexed_by_position(world: int) -> None:
    blocks, groups = blocks_of(world, world, 3), everyone(world)
    pieces = reduce_scatter(blocks, op="sum", axis=0, tiled=False, groups=groups)
    sums = all_reduce(blocks, op="sum", groups=groups)
    for position, rank in enumerate(groups[0]):
        np.testing.assert_array_equal(pieces[rank], sums[rank][position])


@WORLDS
def test_broadcast_is_the_masked_sum(world: int) -> None:
    blocks, groups = blocks_of(world, 4), everyone(world)
    masked = [block * (rank == groups[0][0]) for rank, block in enumerate(blocks)]
    expected = all_reduce(masked, op="sum", groups=groups)
    np.testing.assert_array_equal(broadcast(blocks, root=0, groups=groups), expected)


@WORLDS
@pytest.mark.parametrize("tiled", [True, False])
@pytest.mark.parametrize(("split", "concat"), [(0, 1), (1, 0), (0, 0), (-1, 0)])
def test_all_to_all_twice_with_axes_exchanged_is_the_identity(world: int, tiled: bool, split: int, concat: int) -> None:
    blocks, groups = blocks_of(world, world, world), everyone(world)
    there = all_to_all(blocks, split_axis=split, concat_axis=concat, tiled=tiled, groups=groups)
    back = all_to_all(there, split_axis=concat, concat_axis=split, tiled=tiled, groups=groups)
    np.testing.assert_array_equal(back, blocks)


@WORLDS
def test_a_permutation_and_its_inverse_cancel(world: int) -> None:
    blocks, groups = blocks_of(world, 2), everyone(world)
    pairs = tuple((source, (3 * source + 1) % world) for source in range(world)) if world % 3 else ((0, 0),)
    there = permute(blocks, pairs=pairs, groups=groups)
    back = permute(there, pairs=tuple((b, a) for a, b in pairs), groups=groups)
    for source, _ in pairs:
        np.testing.assert_array_equal(back[groups[0][source]], blocks[groups[0][source]])


@WORLDS
def test_all_gather_is_all_to_all_of_repeated_blocks(world: int) -> None:
    blocks, groups = blocks_of(world, 3), everyone(world)
    repeated = [np.stack([block] * world) for block in blocks]
    expected = all_to_all(repeated, split_axis=0, concat_axis=0, tiled=False, groups=groups)
    np.testing.assert_array_equal(all_gather(blocks, axis=0, tiled=False, groups=groups), expected)


def test_results_share_no_memory_with_inputs_or_each_other() -> None:
    blocks = blocks_of(1, 1, 1)
    groups = ((0,),)
    results = [
        all_reduce(blocks, op="sum", groups=groups),
        all_gather(blocks, axis=0, tiled=True, groups=groups),
        reduce_scatter(blocks, op="sum", axis=0, tiled=True, groups=groups),
        all_to_all(blocks, split_axis=0, concat_axis=1, tiled=True, groups=groups),
        permute(blocks, pairs=((0, 0),), groups=groups),
        broadcast(blocks, root=0, groups=groups),
    ]
    assert not any(np.shares_memory(result[0], blocks[0]) for result in results)
