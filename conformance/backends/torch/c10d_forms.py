"""c10d with storage given and waiting put off: in place, into an output, and ``async_op=True``.

A form starts its collective and returns what to wait for, and how to get at the result after that. ``all_reduce``,
``broadcast`` and ``reduce`` write the tensor they read; the others have an output of their own.
"""

from __future__ import annotations

from typing import Final

import torch
import torch.distributed as dist

from conformance.backends.attribution import framework
from conformance.backends.base import Unsupported
from conformance.backends.torch.c10d import joined, reduction, split, without
from conformance.backends.torch.operation import Form, Started
from conformance.backends.torch.point_to_point import Token, fits, received

Group = dist.ProcessGroup
Tensor = torch.Tensor
Table = tuple[tuple[int, ...], ...]


@framework()
def all_reduce(
    block: Tensor, group: Group, out: Tensor | None, *, op: str, factor: float = 1.0, local_axes: tuple[int, ...] = ()
) -> Started:
    """Reduce in place, or a clone."""
    if local_axes:
        raise Unsupported("all_reduce of Torch reduces over ranks and keeps the shape; it has no local axes")
    target = own(block, out)
    return Started(dist.all_reduce(target, op=reduction(op, factor), group=group, async_op=True), lambda: target)


@framework()
def reduce(block: Tensor, group: Group, out: Tensor | None, *, op: str, root: int, factor: float = 1.0) -> Started:
    """Reduce a clone; only the process at position ``root`` is going to receive the final result."""
    target = own(block, out)
    work = dist.reduce(target, op=reduction(op, factor), group=group, group_dst=root, async_op=True)
    return Started(work, lambda: target if group.rank() == root else None)


@framework()
def broadcast(block: Tensor, group: Group, out: Tensor | None, *, root: int) -> Started:
    """Broadcast in place, or into a clone."""
    target = own(block, out)
    return Started(dist.broadcast(target, group=group, group_src=root, async_op=True), lambda: target)


@framework()
def all_gather(block: Tensor, group: Group, out: Tensor | None, *, axis: int, tiled: bool) -> Started:
    """Gather at dimension 0 into one output, else into the parts of one, or into a list that is joined."""
    size = group.size()
    if axis == 0:
        shape = (size * block.size(0), *block.shape[1:]) if tiled else (size, *block.shape)
        target = block.new_empty(shape) if out is None else out
        return Started(dist.all_gather_single(target, block, group=group, async_op=True), lambda: target)
    parts = [block.new_empty(block.shape) for _ in range(size)] if out is None else split(out, size, axis, tiled)
    work = dist.all_gather(parts, block, group=group, async_op=True)
    return Started(work, lambda: joined(parts, axis, tiled) if out is None else out)


@framework()
def gather(block: Tensor, group: Group, out: Tensor | None, *, root: int, axis: int, tiled: bool) -> Started:
    """Gather on the member at position ``root`` into the parts of its output, or into a list that is joined."""
    slot = block if tiled else block.unsqueeze(axis)
    # Every rank looks at the axis, though only the root joins, so that what is wrong with it is wrong for all.
    slot.size(axis)
    if group.rank() != root:
        return Started(dist.gather(slot, None, group=group, group_dst=root, async_op=True), lambda: out)
    size = group.size()
    parts = [slot.new_empty(slot.shape) for _ in range(size)] if out is None else list(out.chunk(size, axis))
    work = dist.gather(slot, parts, group=group, group_dst=root, async_op=True)
    return Started(work, lambda: joined(parts, axis, tiled=True) if out is None else out)


@framework()
def scatter(block: Tensor, group: Group, out: Tensor | None, *, root: int, axis: int, tiled: bool) -> Started:
    """Scatter the pieces of the block of the member at position ``root``."""
    pieces = split(block, group.size(), axis, tiled)
    target = block.new_empty(pieces[0].shape if tiled else without(block.shape, axis)) if out is None else out
    sent = pieces if group.rank() == root else None
    return Started(dist.scatter(target, sent, group=group, group_src=root, async_op=True), lambda: target)


@framework()
def reduce_scatter(
    block: Tensor, group: Group, out: Tensor | None, *, op: str, axis: int, tiled: bool, factor: float = 1.0
) -> Started:
    """Scatter dimension 0 of one input, else a list of pieces at ``axis``."""
    size = group.size()
    if axis == 0:
        shape = (block.size(0) // size, *block.shape[1:]) if tiled else block.shape[1:]
        target = block.new_empty(shape) if out is None else out
        work = dist.reduce_scatter_single(target, block, op=reduction(op, factor), group=group, async_op=True)
        return Started(work, lambda: target)
    pieces = split(block, size, axis, tiled)
    target = block.new_empty(pieces[0].shape if tiled else without(block.shape, axis)) if out is None else out
    work = dist.reduce_scatter(target, pieces, op=reduction(op, factor), group=group, async_op=True)
    return Started(work, lambda: target)


@framework()
def all_to_all(
    block: Tensor, group: Group, out: Tensor | None, *, split_axis: int, concat_axis: int, tiled: bool
) -> Started:
    """Exchange parts of dimension 0 of one tensor; else a list of pieces, received into the parts of the output."""
    if tiled and split_axis == concat_axis == 0:
        target = block.new_empty(block.shape) if out is None else out
        return Started(dist.all_to_all_single(target, block, group=group, async_op=True), lambda: target)
    pieces = split(block, group.size(), split_axis, tiled)
    fresh = [piece.new_empty(piece.shape) for piece in pieces]
    parts = fresh if out is None else split(out, group.size(), concat_axis, tiled)
    work = dist.all_to_all(parts, pieces, group=group, async_op=True)
    return Started(work, lambda: joined(parts, concat_axis, tiled) if out is None else out)


def all_to_all_uneven(block: Tensor, group: Group, out: Tensor | None, *, sends: Table, receives: Table) -> Started:
    """Exchange parts of dimension 0 of the sizes this rank's rows of the two tables give."""
    sizes, mine = list(receives[group.rank()]), list(sends[group.rank()])
    with framework():
        target = block.new_empty((sum(sizes), *block.shape[1:])) if out is None else out
        return Started(dist.all_to_all_single(target, block, sizes, mine, group=group, async_op=True), lambda: target)


def recv(
    token: Token,
    group: Group,
    out: Tensor | None,
    *,
    pairs: tuple[tuple[int, int], ...],
    shape: tuple[int, ...],
    dtype: str,
) -> Started:
    """Receive into the given tensor, which is cleared where nobody sends, for then no receive is posted."""
    target = fits(out, shape, dtype)
    return Started(None, lambda: received(token, group, target, pairs))


def own(block: Tensor, out: Tensor | None) -> Tensor:
    """Return the tensor that an operation in place works on."""
    if out is None:
        return block.clone(memory_format=torch.preserve_format)
    if (out.data_ptr(), out.shape, out.stride()) != (block.data_ptr(), block.shape, block.stride()):
        raise Unsupported("the operation works in place: it has no output beside its input")
    return block


FORMS: Final[dict[str, Form]] = {
    "start_all_reduce": all_reduce,
    "start_reduce": reduce,
    "start_broadcast": broadcast,
    "start_all_gather": all_gather,
    "start_gather": gather,
    "start_scatter": scatter,
    "start_reduce_scatter": reduce_scatter,
    "start_all_to_all": all_to_all,
    "start_all_to_all_uneven": all_to_all_uneven,
    "start_recv": recv,
}
