"""c10d: one function an operation, each the call a user of ``torch.distributed`` would write.

Attributes become arguments of Torch; where a call has no such argument, lists of chunks go in and
``torch.cat`` or ``torch.stack`` joins the list that comes out, as the list forms are documented to be used.
Nothing is checked here: what Torch says of illegal arguments is what the suite wants to know.
"""

from __future__ import annotations

from typing import Any, Final

import torch
import torch.distributed as dist

from conformance.backends.torch.operation import Operation

Group = dist.ProcessGroup
Tensor = torch.Tensor
Pairs = tuple[tuple[int, int], ...]


def all_reduce(block: Tensor, group: Group, *, op: str) -> Tensor:
    """Reduce a clone: ``all_reduce`` operates in place, the program does not."""
    out = block.clone(memory_format=torch.preserve_format)
    dist.all_reduce(out, op=reduction(op), group=group)
    return out


def all_gather(block: Tensor, group: Group, *, axis: int, tiled: bool) -> Tensor:
    """Gather at dimension 0 into one output, whose shape says stack or concatenate; else a list, joined at ``axis``."""
    size = group.size()
    if axis == 0:
        shape = (size * block.size(0), *block.shape[1:]) if tiled else (size, *block.shape)
        out = block.new_empty(shape)
        dist.all_gather_single(out, block, group=group)
        return out
    blocks = [block.new_empty(block.shape) for _ in range(size)]
    dist.all_gather(blocks, block, group=group)
    return joined(blocks, axis, tiled)


def reduce_scatter(block: Tensor, group: Group, *, op: str, axis: int, tiled: bool) -> Tensor:
    """Scatter dimension 0 of one input, whose shape says stack or concatenate; else a list of pieces at ``axis``."""
    size = group.size()
    if axis == 0:
        out = block.new_empty((block.size(0) // size, *block.shape[1:]) if tiled else block.shape[1:])
        dist.reduce_scatter_single(out, block, op=reduction(op), group=group)
        return out
    pieces = split(block, size, axis, tiled)
    out = block.new_empty(pieces[0].shape if tiled else without(block.shape, axis))
    dist.reduce_scatter(out, pieces, op=reduction(op), group=group)
    return out


def all_to_all(block: Tensor, group: Group, *, split_axis: int, concat_axis: int, tiled: bool) -> Tensor:
    """Exchange parts of dimension 0 of one tensor; else a list of pieces, which leaves both dimensions to its user."""
    if tiled and split_axis == concat_axis == 0:
        out = block.new_empty(block.shape)
        dist.all_to_all_single(out, block, group=group)
        return out
    pieces = split(block, group.size(), split_axis, tiled)
    received = [piece.new_empty(piece.shape) for piece in pieces]
    dist.all_to_all(received, pieces, group=group)
    return joined(received, concat_axis, tiled)


def permute(block: Tensor, group: Group, *, pairs: Pairs) -> Tensor:
    """Post the sends and receives of this rank as one batch; zeros stay where nothing arrives."""
    rank = group.rank()
    out = block.new_zeros(block.shape)
    posted = []
    for source, destination in pairs:
        if source == rank:
            posted.append(dist.P2POp(dist.isend, block, group=group, group_peer=destination))
        if destination == rank:
            posted.append(dist.P2POp(dist.irecv, out, group=group, group_peer=source))
    for work in dist.batch_isend_irecv(posted) if posted else ():
        work.wait()
    return out


def broadcast(block: Tensor, group: Group, *, root: int) -> Tensor:
    """Broadcast from the member at position ``root`` into a clone: the call writes its tensor on other ranks."""
    out = block.clone(memory_format=torch.preserve_format)
    dist.broadcast(out, group=group, group_src=root)
    return out


def reduction(op: str) -> Any:
    """Return ``ReduceOp.SUM`` for ``sum``, and so on; Torch raises ``AttributeError`` for a name it lacks."""
    return getattr(dist.ReduceOp, op.upper())


def split(block: Tensor, size: int, axis: int, tiled: bool) -> list[Tensor]:
    """Return equal pieces that keep ``axis`` (tiled), or slices that lose it; views where Torch can."""
    return list(block.chunk(size, axis) if tiled else block.unbind(axis))


def without(shape: torch.Size, axis: int) -> list[int]:
    """Return ``shape`` without the extent of ``axis``."""
    return [extent for at, extent in enumerate(shape) if at != axis % len(shape)]


def joined(blocks: list[Tensor], axis: int, tiled: bool) -> Tensor:
    """Return the blocks concatenated along ``axis`` (tiled) or stacked at it."""
    return torch.cat(blocks, axis) if tiled else torch.stack(blocks, axis)


OPERATIONS: Final[dict[str, Operation]] = {
    "all_reduce": all_reduce,
    "all_gather": all_gather,
    "reduce_scatter": reduce_scatter,
    "all_to_all": all_to_all,
    "permute": permute,
    "broadcast": broadcast,
}
