"""The operations on one block a rank: what each asks of its arguments, and what every rank receives.

Everything is checked here, before a graph node exists, so before any data moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.backends.opencl.graph import rejections as no
from conformance.backends.opencl.graph.attributes import (
    Attrs,
    Shape,
    attributes,
    axis_of,
    equal_size,
    joined_shape,
    pairs_in,
    partitioned,
    piece_shape,
    root_in,
)
from conformance.backends.opencl.graph.node import Collective, Movement
from conformance.backends.opencl.graph.reductions import accumulator, result_dtype
from conformance.cases.program.program import Groups

Blocks = tuple[Movement, ...]
Found = tuple[str, Shape | list[Shape | None], Attrs]
"""The dtype of the result, its shape (one for all ranks or one a rank) and the attributes as lowering takes them."""


def collective(operation: str, blocks: Blocks, given: Mapping[str, Any], groups: Groups, stage: int = 0) -> Collective:
    """Return the checked collective, its axes counted from the front; raise a ``RejectionError`` for an illegal one."""
    attrs = attributes(operation, given)
    if operation != "all_to_all_uneven":
        alike(blocks)
    partitioned(groups, len(blocks))
    dtype, found, attrs = CHECKS[operation](blocks, groups, attrs)
    shapes = tuple(found) if isinstance(found, list) else (found,) * len(blocks)
    return Collective(operation, attrs, groups, blocks, dtype, shapes, stage)


def alike(blocks: Blocks, *, extents: bool = True) -> None:
    """Demand one dtype of all ranks and, unless only the rows behind the first axis count, one shape."""
    start = 0 if extents else 1
    for rank, block in enumerate(blocks):
        for what, mine, first in (
            ("dtype", block.node.dtype, blocks[0].node.dtype),
            ("shape", block.view.shape[start:], blocks[0].view.shape[start:]),
        ):
            if mine != first:
                raise no.BlocksDifferError(f"all ranks need one {what}: rank 0 has {first}, rank {rank} has {mine}")


def _all_reduce(blocks: Blocks, _groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    accumulator(dtype, attrs["op"])
    axes = [axis_of(axis, len(shape), "local axis") for axis in attrs["local_axes"]]
    if len(set(axes)) != len(axes):
        raise no.AxisRepeatedError(f"local axes {list(attrs['local_axes'])} name one axis twice; each may appear once")
    kept = tuple(extent for axis, extent in enumerate(shape) if axis not in axes)
    return result_dtype(dtype, attrs["op"]), kept, {**attrs, "local_axes": tuple(axes)}


def _arg_reduce(blocks: Blocks, _groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    if attrs["op"] not in ("max", "min"):
        raise no.UnknownReductionError(f"arg_reduce of {attrs['op']!r}: only max and min have a position")
    accumulator(dtype, attrs["op"])
    return "int32", shape, attrs


def _reduce(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    accumulator(dtype, attrs["op"])
    root_in(groups, attrs["root"])
    return result_dtype(dtype, attrs["op"]), _only_roots(shape, groups, attrs["root"]), attrs


def _reduce_scatter(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    accumulator(dtype, attrs["op"])
    size = equal_size(groups)
    axis = axis_of(attrs["axis"], len(shape), "axis")
    piece = piece_shape(shape, axis, size, tiled=attrs["tiled"])
    return result_dtype(dtype, attrs["op"]), piece, {**attrs, "axis": axis}


def _all_gather(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    size, tiled = equal_size(groups), attrs["tiled"]
    axis = axis_of(attrs["axis"], len(shape) + (not tiled), "axis")
    return dtype, joined_shape(shape, axis, size, tiled=tiled), {**attrs, "axis": axis}


def _gather(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    dtype, shape, attrs = _all_gather(blocks, groups, attrs)
    root_in(groups, attrs["root"])
    assert isinstance(shape, tuple)  # all_gather gives one shape to all
    return dtype, _only_roots(shape, groups, attrs["root"]), attrs


def _scatter(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    size = equal_size(groups)
    root_in(groups, attrs["root"])
    axis = axis_of(attrs["axis"], len(shape), "axis")
    return dtype, piece_shape(shape, axis, size, tiled=attrs["tiled"]), {**attrs, "axis": axis}


def _all_to_all(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    size, tiled = equal_size(groups), attrs["tiled"]
    split = axis_of(attrs["split_axis"], len(shape), "split_axis")
    concat = axis_of(attrs["concat_axis"], len(shape), "concat_axis")
    piece = piece_shape(shape, split, size, tiled=tiled)
    joined = joined_shape(piece, concat, size, tiled=tiled)
    return dtype, joined, {**attrs, "split_axis": split, "concat_axis": concat}


def _all_to_all_uneven(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    size, sends, receives = equal_size(groups), attrs["sends"], attrs["receives"]
    for what, table in (("sends", sends), ("receives", receives)):
        if [len(row) for row in table] != [size] * size or min((n for row in table for n in row), default=0) < 0:
            raise no.SplitSizesError(f"{what} must be {size} rows of {size} counts, got {list(table)}")
    if receives != tuple(zip(*sends, strict=True)):
        raise no.SplitSizesError(f"receives must be {list(zip(*sends, strict=True))}, got {list(receives)}")
    shapes: list[Shape | None] = [None] * len(blocks)
    for group in groups:
        for p, rank in enumerate(group):
            shape = blocks[rank].view.shape
            if not shape or shape[0] != sum(sends[p]):
                raise no.SplitSizesError(f"sends {list(sends[p])} must add up to the rows of a block of shape {shape}")
            shapes[rank] = (sum(receives[p]), *shape[1:])
    alike(blocks, extents=False)
    return blocks[0].node.dtype, shapes, attrs


def _permute(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    pairs_in(attrs["pairs"], equal_size(groups))
    return *_first(blocks), attrs


def _send(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    dtype, shape, attrs = _permute(blocks, groups, attrs)
    assert isinstance(shape, tuple)  # permute gives one shape to all
    arriving = {group[destination] for group in groups for _, destination in attrs["pairs"]}
    return dtype, [shape if rank in arriving else None for rank in range(len(blocks))], attrs


def _shuffle(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    size, sources = equal_size(groups), attrs["sources"]
    if sorted(sources) != list(range(size)):
        raise no.NotPermutationError(f"sources {list(sources)} must list each of the {size} positions once")
    return *_first(blocks), {"pairs": tuple((source, p) for p, source in enumerate(sources))}


def _broadcast(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    root_in(groups, attrs["root"])
    return *_first(blocks), attrs


def _first(blocks: Blocks) -> tuple[str, Shape]:
    return blocks[0].node.dtype, blocks[0].view.shape


def _only_roots(shape: Shape, groups: Groups, root: int) -> list[Shape | None]:
    roots = {group[root] for group in groups}
    return [shape if rank in roots else None for rank in range(sum(len(group) for group in groups))]


CHECKS: Final[dict[str, Callable[[Blocks, Groups, Attrs], Found]]] = {
    "all_gather": _all_gather,
    "all_reduce": _all_reduce,
    "all_to_all": _all_to_all,
    "all_to_all_uneven": _all_to_all_uneven,
    "arg_reduce": _arg_reduce,
    "broadcast": _broadcast,
    "gather": _gather,
    "permute": _permute,
    "reduce": _reduce,
    "reduce_scatter": _reduce_scatter,
    "scatter": _scatter,
    "send": _send,
    "shuffle": _shuffle,
}
