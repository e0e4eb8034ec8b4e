"""The operations on one block a rank: what each asks of its arguments, and what every rank receives.

Everything is checked here, before a graph node exists, so before any data moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from conformance.backends.opencl.graph import rejections as no
from conformance.backends.opencl.graph.attributes import (
    NUMBERS,
    ROWS,
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
    takes,
)
from conformance.backends.opencl.graph.node import Collective, Movement
from conformance.backends.opencl.graph.reductions import accumulator, result_dtype
from conformance.backends.opencl.graph.view import View
from conformance.cases.program.program import Groups

Blocks = tuple[Movement, ...]
Found = tuple[str, Shape | list[Shape | None], Attrs]
"""The dtype of the result, its shape (one for all ranks or one a rank) and the attributes as lowering takes them."""


class Form(msgspec.Struct, frozen=True):
    """What lowering asks about an operation.

    One that ``reduces`` folds, ``partly`` where it has partial results to carry on: an arg_reduce has none, as a value
    forgets its position. Blocks of one that moves may be ``passed_on`` by way of others; else each piece goes to one
    place only. ``folded`` gives what the member at a position folds, in order, where each folds something else.
    """

    check: Callable[[Blocks, Groups, Attrs], Found]
    reduces: bool = False
    partly: bool = False
    passed_on: bool = False
    folded: Callable[[Collective, tuple[int, ...], int], Blocks] | None = None


FORMS: Final[dict[str, Form]] = {}
"""Every operation on one block a rank, as each says where it is checked."""

Check = Callable[[Blocks, Groups, Attrs], Found]


def form(
    operation: str,
    *,
    reduces: bool = False,
    partly: bool = False,
    passed_on: bool = False,
    folded: Callable[[Collective, tuple[int, ...], int], Blocks] | None = None,
    **types: Any,
) -> Callable[[Check], Check]:
    """Say of the function that it checks an operation, what lowering asks about it and the types of its attributes."""
    takes(operation, **types)

    def said(check: Check) -> Check:
        FORMS[operation] = Form(check, reduces, partly, passed_on, folded)
        return check

    return said


JOINING: Final = ("all_gather", "gather")


def collective(
    operation: str, blocks: Blocks, given: Mapping[str, Any], groups: Groups, stage: int = 0, *, uneven: bool = False
) -> Collective:
    """Return the checked collective, its axes counted from the front; raise a ``RejectionError`` for an illegal one.

    Blocks that are joined along an axis may be ``uneven`` there: those of graphs, not those of programs.
    """
    attrs = attributes(operation, given)
    joined = uneven and operation in JOINING and attrs["tiled"]
    if joined:
        _alike_but(blocks, axis_of(attrs["axis"], len(blocks[0].view.shape), "axis"))
    elif operation != "all_to_all_uneven":
        alike(blocks)
    partitioned(groups, len(blocks))
    dtype, found, attrs = FORMS[operation].check(blocks, groups, attrs)
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


def _alike_but(blocks: Blocks, axis: int) -> None:
    """Demand one dtype of all ranks, and of their shapes that they differ along one axis alone."""
    for rank, block in enumerate(blocks):
        mine, first = (
            (each.node.dtype, *each.view.shape[:axis], len(each.view.shape), *each.view.shape[axis + 1 :])
            for each in (block, blocks[0])
        )
        if mine != first:
            raise no.BlocksDifferError(
                f"blocks joined along axis {axis} need one dtype and other extents alike: rank 0 has "
                f"{blocks[0].node.dtype} {list(blocks[0].view.shape)}, rank {rank} has {block.node.dtype} "
                f"{list(block.view.shape)}"
            )


def piece(made: Collective, view: View, axis_name: str, position: int, size: int) -> View:
    """Return the part of ``view`` along an axis that belongs to a position: a range of it (tiled) or a slice."""
    axis = made.attrs[axis_name]
    if not made.attrs["tiled"]:
        return view.index(axis, position)
    extent = view.shape[axis] // size
    return view.narrow(axis, position * extent, (position + 1) * extent)


def _pieces(made: Collective, group: tuple[int, ...], position: int) -> Blocks:
    """Return that piece of every member's block which the member at ``position`` keeps."""
    blocks = (made.blocks[rank] for rank in group)
    return tuple(Movement(block.node, piece(made, block.view, "axis", position, len(group))) for block in blocks)


@form("all_reduce", reduces=True, partly=True, op=str, factor=float, local_axes=NUMBERS)
def _all_reduce(blocks: Blocks, _groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    accumulator(dtype, attrs["op"])
    axes = [axis_of(axis, len(shape), "local axis") for axis in attrs["local_axes"]]
    if len(set(axes)) != len(axes):
        raise no.AxisRepeatedError(f"local axes {list(attrs['local_axes'])} name one axis twice; each may appear once")
    kept = tuple(extent for axis, extent in enumerate(shape) if axis not in axes)
    return result_dtype(dtype, attrs["op"]), kept, {**attrs, "local_axes": tuple(axes)}


@form("arg_reduce", reduces=True, op=str)
def _arg_reduce(blocks: Blocks, _groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    if attrs["op"] not in ("max", "min"):
        raise no.UnknownReductionError(f"arg_reduce of {attrs['op']!r}: only max and min have a position")
    accumulator(dtype, attrs["op"])
    return "int32", shape, attrs


@form("reduce", reduces=True, partly=True, op=str, root=int, factor=float)
def _reduce(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    accumulator(dtype, attrs["op"])
    root_in(groups, attrs["root"])
    return result_dtype(dtype, attrs["op"]), _only_roots(shape, groups, attrs["root"]), attrs


@form("reduce_scatter", reduces=True, partly=True, folded=_pieces, op=str, axis=int, tiled=bool, factor=float)
def _reduce_scatter(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    accumulator(dtype, attrs["op"])
    size = equal_size(groups)
    axis = axis_of(attrs["axis"], len(shape), "axis")
    piece = piece_shape(shape, axis, size, tiled=attrs["tiled"])
    return result_dtype(dtype, attrs["op"]), piece, {**attrs, "axis": axis}


def _before(made: Collective, group: tuple[int, ...], position: int) -> Blocks:
    """Return the blocks of the members before a position, and inclusive its own."""
    return tuple(made.blocks[rank] for rank in group[: position + (not made.attrs["exclusive"])])


@form("scan", reduces=True, folded=_before, op=str, exclusive=bool, factor=float)
def _scan(blocks: Blocks, _groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    accumulator(dtype, attrs["op"])
    return result_dtype(dtype, attrs["op"]), shape, attrs


@form("all_gather", passed_on=True, axis=int, tiled=bool)
def _all_gather(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    size, tiled = equal_size(groups), attrs["tiled"]
    axis = axis_of(attrs["axis"], len(shape) + (not tiled), "axis")
    if not tiled or len({block.view.shape for block in blocks}) == 1:
        return dtype, joined_shape(shape, axis, size, tiled=tiled), {**attrs, "axis": axis}
    found: list[Shape | None] = [None] * len(blocks)
    for group in groups:
        extent = sum(blocks[rank].view.shape[axis] for rank in group)
        for rank in group:
            found[rank] = (*shape[:axis], extent, *shape[axis + 1 :])
    return dtype, found, {**attrs, "axis": axis}


@form("gather", passed_on=True, root=int, axis=int, tiled=bool)
def _gather(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    dtype, shape, attrs = _all_gather(blocks, groups, attrs)
    root_in(groups, attrs["root"])
    if isinstance(shape, tuple):
        return dtype, _only_roots(shape, groups, attrs["root"]), attrs
    roots = {group[attrs["root"]] for group in groups}
    return dtype, [each if rank in roots else None for rank, each in enumerate(shape)], attrs


@form("scatter", passed_on=True, root=int, axis=int, tiled=bool)
def _scatter(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    size = equal_size(groups)
    root_in(groups, attrs["root"])
    axis = axis_of(attrs["axis"], len(shape), "axis")
    return dtype, piece_shape(shape, axis, size, tiled=attrs["tiled"]), {**attrs, "axis": axis}


@form("all_to_all", split_axis=int, concat_axis=int, tiled=bool)
def _all_to_all(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    dtype, shape = _first(blocks)
    size, tiled = equal_size(groups), attrs["tiled"]
    split = axis_of(attrs["split_axis"], len(shape), "split_axis")
    concat = axis_of(attrs["concat_axis"], len(shape), "concat_axis")
    piece = piece_shape(shape, split, size, tiled=tiled)
    joined = joined_shape(piece, concat, size, tiled=tiled)
    return dtype, joined, {**attrs, "split_axis": split, "concat_axis": concat}


@form("all_to_all_uneven", sends=ROWS, receives=ROWS)
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


@form("permute", pairs=ROWS)
def _permute(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    pairs_in(attrs["pairs"], equal_size(groups))
    return *_first(blocks), attrs


@form("send", pairs=ROWS)
def _send(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    dtype, shape, attrs = _permute(blocks, groups, attrs)
    assert isinstance(shape, tuple)  # permute gives one shape to all
    arriving = {group[destination] for group in groups for _, destination in attrs["pairs"]}
    return dtype, [shape if rank in arriving else None for rank in range(len(blocks))], attrs


@form("shuffle", sources=NUMBERS)
def _shuffle(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    size, sources = equal_size(groups), attrs["sources"]
    if sorted(sources) != list(range(size)):
        raise no.NotPermutationError(f"sources {list(sources)} must list each of the {size} positions once")
    return *_first(blocks), {"pairs": tuple((source, p) for p, source in enumerate(sources))}


@form("broadcast", passed_on=True, root=int)
def _broadcast(blocks: Blocks, groups: Groups, attrs: Attrs) -> Found:
    root_in(groups, attrs["root"])
    return *_first(blocks), attrs


def _first(blocks: Blocks) -> tuple[str, Shape]:
    return blocks[0].node.dtype, blocks[0].view.shape


def _only_roots(shape: Shape, groups: Groups, root: int) -> list[Shape | None]:
    roots = {group[root] for group in groups}
    return [shape if rank in roots else None for rank in range(sum(len(group) for group in groups))]
