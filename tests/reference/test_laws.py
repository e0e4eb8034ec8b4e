"""Every worked equivalence of the sources: laws that tie the operations to each other, on random blocks."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from conformance.cases.case import Case
from conformance.cases.program.program import Axis, Groups, Program, Step
from conformance.cases.tensor.dtypes import Array
from conformance.reference.operations import OPERATIONS
from conformance.reference.operations.all_gather import all_gather
from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.operations.all_to_all import all_to_all
from conformance.reference.operations.all_to_all_uneven import all_to_all_uneven
from conformance.reference.operations.arg_reduce import arg_reduce
from conformance.reference.operations.axis_index import axis_index
from conformance.reference.operations.axis_size import axis_size
from conformance.reference.operations.broadcast import broadcast
from conformance.reference.operations.gather import gather
from conformance.reference.operations.permute import permute
from conformance.reference.operations.ragged_all_to_all import ragged_all_to_all
from conformance.reference.operations.recv import recv
from conformance.reference.operations.reduce import reduce
from conformance.reference.operations.reduce_constant import reduce_constant
from conformance.reference.operations.reduce_scatter import reduce_scatter
from conformance.reference.operations.scatter import scatter
from conformance.reference.operations.send import send
from conformance.reference.operations.shuffle import shuffle
from conformance.reference.reductions import REDUCTIONS
from conformance.reference.spmd import DEFAULTS, run

WORLDS = pytest.mark.parametrize("world", [1, 2, 3, 5, 8])
AXES = pytest.mark.parametrize("axis", [0, 1, -1])
ROOTS = pytest.mark.parametrize("root", [0, 1, 3])
UNEVEN: Groups = ((3, 0), (4, 1, 2))


def blocks_of(world: int, *shape: int) -> list[Array]:
    return list(np.random.default_rng(world).integers(-9, 9, (world, *shape)))


def everyone(world: int) -> Groups:
    return (tuple(reversed(range(world))),)


def equal(seen: Any, expected: Any) -> None:
    np.testing.assert_array_equal(seen, expected)


@WORLDS
@AXES
def test_gather_after_scatter_sum_is_the_sum(world: int, axis: int) -> None:
    blocks, groups = blocks_of(world, 2 * world, 3 * world), everyone(world)
    pieces = reduce_scatter(blocks, op="sum", axis=axis, tiled=True, groups=groups)
    equal(all_gather(pieces, axis=axis, tiled=True, groups=groups), all_reduce(blocks, op="sum", groups=groups))


@WORLDS
def test_untiled_scatter_sum_is_the_sum_indexed_by_position(world: int) -> None:
    blocks, groups = blocks_of(world, world, 3), everyone(world)
    pieces = reduce_scatter(blocks, op="sum", axis=0, tiled=False, groups=groups)
    sums, positions = all_reduce(blocks, op="sum", groups=groups), axis_index(groups=groups)
    equal(pieces, [whole[position] for whole, position in zip(sums, positions, strict=True)])


@WORLDS
def test_broadcast_is_the_masked_sum(world: int) -> None:
    blocks, groups = blocks_of(world, 4), everyone(world)
    for root in range(world):
        masked = [block * (at == root) for block, at in zip(blocks, axis_index(groups=groups), strict=True)]
        equal(broadcast(blocks, root=root, groups=groups), all_reduce(masked, op="sum", groups=groups))


@WORLDS
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_untiled_all_to_all_along_one_axis_swaps_it_with_the_mesh_axis(world: int, axis: int) -> None:
    shape = [2, 3, 2]
    shape[axis] = world
    blocks = blocks_of(world, *shape)
    swapped = all_to_all(blocks, split_axis=axis, concat_axis=axis, tiled=False, groups=(tuple(range(world)),))
    equal(np.stack(swapped), np.swapaxes(np.stack(blocks), 0, axis + 1))


@WORLDS
@pytest.mark.parametrize("tiled", [True, False])
@pytest.mark.parametrize(("split", "concat"), [(0, 1), (1, 0), (0, 0), (-1, 0)])
def test_all_to_all_twice_with_axes_exchanged_is_the_identity(world: int, tiled: bool, split: int, concat: int) -> None:
    blocks, groups = blocks_of(world, world, world), everyone(world)
    there = all_to_all(blocks, split_axis=split, concat_axis=concat, tiled=tiled, groups=groups)
    equal(all_to_all(there, split_axis=concat, concat_axis=split, tiled=tiled, groups=groups), blocks)


@WORLDS
def test_a_permutation_and_its_inverse_cancel(world: int) -> None:
    blocks, groups = blocks_of(world, 2), everyone(world)
    for shift in range(world):
        pairs = tuple((source, (source + shift) % world) for source in range(world))
        there = permute(blocks, pairs=pairs, groups=groups)
        equal(permute(there, pairs=tuple((b, a) for a, b in pairs), groups=groups), blocks)


@WORLDS
def test_all_gather_is_all_to_all_of_repeated_blocks(world: int) -> None:
    blocks, groups = blocks_of(world, 3), everyone(world)
    repeated = [np.stack([block] * world) for block in blocks]
    expected = all_to_all(repeated, split_axis=0, concat_axis=0, tiled=False, groups=groups)
    equal(all_gather(blocks, axis=0, tiled=False, groups=groups), expected)


@WORLDS
def test_ragged_with_equal_sizes_is_tiled_all_to_all(world: int) -> None:
    rows, groups = 2, everyone(world)
    blocks = blocks_of(world, rows * world, 3)
    starts = [np.arange(world) * rows] * world
    sizes = [np.full(world, rows)] * world
    ats = [np.full(world, rows * position) for position in axis_index(groups=groups)]
    output = [np.full_like(block, 99) for block in blocks]
    expected = all_to_all(blocks, split_axis=0, concat_axis=0, tiled=True, groups=groups)
    equal(ragged_all_to_all(blocks, output, starts, sizes, ats, sizes, groups=groups), expected)


@WORLDS
def test_uneven_with_equal_parts_is_tiled_all_to_all(world: int) -> None:
    blocks, groups, table = blocks_of(world, 2 * world, 3), everyone(world), ((2,) * world,) * world
    expected = all_to_all(blocks, split_axis=0, concat_axis=0, tiled=True, groups=groups)
    equal(all_to_all_uneven(blocks, sends=table, receives=table, groups=groups), expected)


@WORLDS
def test_uneven_back_again_is_the_identity(world: int) -> None:
    groups = everyone(world)
    sends = tuple(tuple((3 * q + p) % 4 for p in range(world)) for q in range(world))
    receives = tuple(zip(*sends, strict=True))
    blocks = [np.arange(sum(sends[p])) + 10 * p for p in axis_index(groups=groups)]
    there = all_to_all_uneven(blocks, sends=sends, receives=receives, groups=groups)
    back = all_to_all_uneven(there, sends=receives, receives=sends, groups=groups)
    assert [block.tolist() for block in back] == [block.tolist() for block in blocks]


@ROOTS
@pytest.mark.parametrize("op", REDUCTIONS)
def test_reduce_is_all_reduce_on_the_root(op: str, root: int) -> None:
    dtype = np.float32 if op == "premul_sum" else np.int32
    blocks, groups = [block.astype(dtype) for block in blocks_of(4, 3)], everyone(4)
    whole = all_reduce(blocks, op=op, factor=0.5, groups=groups)
    on_root = reduce(blocks, op=op, factor=0.5, root=root, groups=groups)
    equal(on_root[groups[0][root]], whole[0])
    assert [rank for rank, block in enumerate(on_root) if block is not None] == [groups[0][root]]


@ROOTS
@AXES
@pytest.mark.parametrize("tiled", [True, False])
def test_gather_is_all_gather_on_the_root_and_scatter_undoes_it(root: int, axis: int, tiled: bool) -> None:
    blocks, groups = blocks_of(4, 2, 3), everyone(4)
    whole = all_gather(blocks, axis=axis, tiled=tiled, groups=groups)
    on_root = gather(blocks, root=root, axis=axis, tiled=tiled, groups=groups)
    equal(on_root[groups[0][root]], whole[0])
    assert [rank for rank, block in enumerate(on_root) if block is not None] == [groups[0][root]]
    filled = [np.zeros_like(whole[0]) if block is None else block for block in on_root]
    equal(scatter(filled, root=root, axis=axis, tiled=tiled, groups=groups), blocks)


@WORLDS
def test_scatter_is_the_piece_of_a_broadcast_at_each_position(world: int) -> None:
    blocks, groups = blocks_of(world, world, 3), everyone(world)
    whole = broadcast(blocks, root=world - 1, groups=groups)
    expected = [block[position] for block, position in zip(whole, axis_index(groups=groups), strict=True)]
    equal(scatter(blocks, root=world - 1, axis=0, tiled=False, groups=groups), expected)


@WORLDS
def test_shuffle_is_permute_by_sources(world: int) -> None:
    blocks, groups = blocks_of(world, 2), everyone(world)
    for sources in itertools.islice(itertools.permutations(range(world)), 30):
        pairs = tuple((source, position) for position, source in enumerate(sources))
        equal(shuffle(blocks, sources=sources, groups=groups), permute(blocks, pairs=pairs, groups=groups))


@WORLDS
def test_recv_after_send_is_permute(world: int) -> None:
    blocks, groups = blocks_of(world, 2), everyone(world)
    for count in range(world + 1):
        pairs = tuple((p, (p + 1) % world) for p in range(count))
        tokens = send(blocks, pairs=pairs, groups=groups)
        received = recv(tokens, pairs=pairs, shape=(2,), dtype="int64", groups=groups)
        equal(received, permute(blocks, pairs=pairs, groups=groups))


@pytest.mark.parametrize("groups", [everyone(5), UNEVEN])
def test_mean_is_the_sum_over_the_size(groups: Groups) -> None:
    sums = all_reduce(blocks_of(5, 3), op="sum", groups=groups)
    sizes = axis_size(groups=groups)
    expected = [total / size for total, size in zip(sums, sizes, strict=True)]
    equal(all_reduce(blocks_of(5, 3), op="mean", groups=groups), expected)


@pytest.mark.parametrize("groups", [everyone(5), UNEVEN])
def test_a_constant_is_reduced_as_if_every_rank_held_it(groups: Groups) -> None:
    held = [np.array(7, np.int32)] * 5
    equal(reduce_constant(value=7, groups=groups), all_reduce(held, op="sum", groups=groups))
    ones = [np.array(1, np.int32)] * 5
    equal(axis_size(groups=groups), all_reduce(ones, op="sum", groups=groups))


@pytest.mark.parametrize("op", ["max", "min"])
def test_arg_reduce_points_at_the_extreme(op: str) -> None:
    blocks, groups = blocks_of(5, 6), UNEVEN
    extreme, position = all_reduce(blocks, op=op, groups=groups), arg_reduce(blocks, op=op, groups=groups)
    for group in groups:
        for rank in group:
            members = np.stack([blocks[member] for member in group])
            equal(np.take_along_axis(members, position[rank][None].astype(np.int64), 0)[0], extreme[rank])


@pytest.mark.parametrize("local", [(0,), (-1,), (0, 1), (1, 0)])
@pytest.mark.parametrize("op", [op for op in REDUCTIONS if op != "premul_sum"])
def test_local_axes_are_reduced_as_ranks_are(op: str, local: tuple[int, ...]) -> None:
    blocks, groups = blocks_of(3, 2, 4), everyone(3)
    ranks = [
        block for whole in blocks for block in np.moveaxis(whole, local, range(len(local))).reshape(-1, *_rest(local))
    ]
    expected = all_reduce(ranks, op=op, groups=(tuple(range(len(ranks))),))[0]
    equal(all_reduce(blocks, op=op, local_axes=local, groups=groups), [expected] * 3)


def _rest(local: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(extent for axis, extent in enumerate((2, 4)) if axis not in local and axis - 2 not in local)


MESH = (Axis("i", 2), Axis("j", 1), Axis("k", 3))

STEPS: dict[str, dict[str, Any]] = {
    "all_reduce": {"op": "sum"},
    "all_gather": {"axis": 0, "tiled": True},
    "reduce_scatter": {"op": "max", "axis": 0, "tiled": True},
    "all_to_all": {"split_axis": 0, "concat_axis": 1, "tiled": True},
    "arg_reduce": {"op": "min"},
    "broadcast": {"root": 1},
    "permute": {"pairs": ((0, 1), (1, 0))},
}


def ran(mesh: tuple[Axis, ...], axes: tuple[str, ...], op: str) -> list[Array | None]:
    """Run one step on the same six blocks."""
    step = Step(op=op, inputs=("x",), outputs=("y",), axes=axes, attrs=STEPS[op])
    program = Program(mesh=mesh, steps=(step,), results=("y",))
    return run(Case(program=program, inputs={}), {"x": blocks_of(6, 12, 2)}, OPERATIONS)["y"]


@pytest.mark.parametrize("op", STEPS)
def test_a_tuple_of_axes_is_the_flattened_axis(op: str) -> None:
    equal(ran(MESH, ("i", "j", "k"), op), ran((Axis("n", 6),), ("n",), op))
    other = [i * 3 + k for k in range(3) for i in range(2)]
    turned = ran(MESH, ("k", "i"), op)
    step = Step(op=op, inputs=("x",), outputs=("y",), axes=("n",), groups=(tuple(other),), attrs=STEPS[op])
    program = Program(mesh=(Axis("n", 6),), steps=(step,), results=("y",))
    equal(turned, run(Case(program=program, inputs={}), {"x": blocks_of(6, 12, 2)}, OPERATIONS)["y"])


@pytest.mark.parametrize("op", STEPS)
def test_an_axis_of_size_one_adds_nothing_and_no_axis_is_the_identity(op: str) -> None:
    for place in (("i", "j"), ("j", "i")):
        equal(ran(MESH, place, op), ran(MESH, ("i",), op))
    equal(ran(MESH, (), op), blocks_of(6, 12, 2))


@pytest.mark.parametrize("op", STEPS)
def test_axes_that_are_not_named_repeat_the_operation(op: str) -> None:
    whole = ran(MESH, ("i",), op)
    for k in range(3):
        ranks = (k, 3 + k)
        blocks = [blocks_of(6, 12, 2)[rank] for rank in ranks]
        alone = OPERATIONS[op](blocks, **DEFAULTS[op] | STEPS[op], groups=((0, 1),))
        equal([whole[rank] for rank in ranks], alone)


def test_results_share_no_memory_with_inputs_or_each_other() -> None:
    blocks, groups = blocks_of(1, 1, 1), ((0,),)
    results: list[list[Any]] = [
        all_reduce(blocks, op="sum", groups=groups),
        all_gather(blocks, axis=0, tiled=True, groups=groups),
        reduce_scatter(blocks, op="sum", axis=0, tiled=True, groups=groups),
        all_to_all(blocks, split_axis=0, concat_axis=1, tiled=True, groups=groups),
        all_to_all_uneven(blocks, sends=((1,),), receives=((1,),), groups=groups),
        permute(blocks, pairs=((0, 0),), groups=groups),
        shuffle(blocks, sources=(0,), groups=groups),
        broadcast(blocks, root=0, groups=groups),
        gather(blocks, root=0, axis=0, tiled=True, groups=groups),
        scatter(blocks, root=0, axis=0, tiled=True, groups=groups),
        reduce(blocks, op="sum", root=0, groups=groups),
        ran((Axis("i", 6),), (), "all_reduce"),
    ]
    everything = [result[0] for result in results]
    assert not any(np.shares_memory(result, blocks[0]) for result in everything)
    assert not any(np.shares_memory(a, b) for a, b in itertools.combinations(everything, 2))
