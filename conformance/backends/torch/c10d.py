"""c10d: one function an operation, each the call a user of ``torch.distributed`` would write.

Attributes become arguments of Torch; where a call has no such argument, lists of chunks go in and
``torch.cat`` or ``torch.stack`` joins the list that comes out, as the list forms are documented to be used.
Nothing is checked here: what Torch says of illegal arguments is what the suite wants to know.
"""

from __future__ import annotations

from typing import Any, Final

import torch
import torch.distributed as dist

from conformance.backends.attribution import framework
from conformance.backends.base import Refused, Unsupported
from conformance.backends.torch.operation import Operation, mapped
from conformance.backends.torch.point_to_point import permute, recv, send, shuffle

Group = dist.ProcessGroup
Tensor = torch.Tensor
Table = tuple[tuple[int, ...], ...]

NAMES: Final = {
    "sum": "SUM", "product": "PRODUCT", "mean": "AVG", "max": "MAX", "min": "MIN",
    "and": "BAND", "or": "BOR", "xor": "BXOR",
}  # fmt: skip
"""The member of ``ReduceOp`` that each reduction is; ``PREMUL_SUM`` is made by a function of that name."""


@framework()
def all_reduce(
    block: Tensor, group: Group, *, op: str, factor: float = 1.0, local_axes: tuple[int, ...] = ()
) -> Tensor:
    """Reduce a clone: ``all_reduce`` operates in place, the program does not."""
    if local_axes:
        raise Unsupported("all_reduce of Torch reduces over ranks and keeps the shape; it has no local axes")
    out = block.clone(memory_format=torch.preserve_format)
    dist.all_reduce(out, op=reduction(op, factor), group=group)
    return out


@framework()
def reduce(block: Tensor, group: Group, *, op: str, root: int, factor: float = 1.0) -> Tensor | None:
    """Reduce a clone; only the process at position ``root`` is going to receive the final result."""
    out = block.clone(memory_format=torch.preserve_format)
    dist.reduce(out, op=reduction(op, factor), group=group, group_dst=root)
    return out if group.rank() == root else None


@framework()
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


@framework()
def gather(block: Tensor, group: Group, *, root: int, axis: int, tiled: bool) -> Tensor | None:
    """Gather a list on the member at position ``root`` and concatenate it there."""
    slot = block if tiled else block.unsqueeze(axis)
    # Every rank looks at the axis, though only the root joins, so that what is wrong with it is wrong for all.
    slot.size(axis)
    slots = [slot.new_empty(slot.shape) for _ in range(group.size())] if group.rank() == root else None
    dist.gather(slot, slots, group=group, group_dst=root)
    return None if slots is None else torch.cat(slots, axis)


@framework()
def scatter(block: Tensor, group: Group, *, root: int, axis: int, tiled: bool) -> Tensor:
    """Scatter the pieces of the block of the member at position ``root``."""
    pieces = split(block, group.size(), axis, tiled)
    out = block.new_empty(pieces[0].shape if tiled else without(block.shape, axis))
    dist.scatter(out, pieces if group.rank() == root else None, group=group, group_src=root)
    return out


@framework()
def reduce_scatter(block: Tensor, group: Group, *, op: str, axis: int, tiled: bool, factor: float = 1.0) -> Tensor:
    """Scatter dimension 0 of one input, whose shape says stack or concatenate; else a list of pieces at ``axis``."""
    size = group.size()
    if axis == 0:
        out = block.new_empty((block.size(0) // size, *block.shape[1:]) if tiled else block.shape[1:])
        dist.reduce_scatter_single(out, block, op=reduction(op, factor), group=group)
        return out
    pieces = split(block, size, axis, tiled)
    out = block.new_empty(pieces[0].shape if tiled else without(block.shape, axis))
    dist.reduce_scatter(out, pieces, op=reduction(op, factor), group=group)
    return out


@framework()
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


def all_to_all_uneven(block: Tensor, group: Group, *, sends: Table, receives: Table) -> Tensor:
    """Exchange parts of dimension 0 of the sizes this rank's rows of the two tables give."""
    sizes, mine = list(receives[group.rank()]), list(sends[group.rank()])
    with framework():
        out = block.new_empty((sum(sizes), *block.shape[1:]))
        dist.all_to_all_single(out, block, sizes, mine, group=group)
        return out


@framework()
def broadcast(block: Tensor, group: Group, *, root: int) -> Tensor:
    """Broadcast from the member at position ``root`` into a clone: the call writes its tensor on other ranks."""
    out = block.clone(memory_format=torch.preserve_format)
    dist.broadcast(out, group=group, group_src=root)
    return out


@framework()
def barrier(blocks: list[Tensor], group: Group) -> list[Tensor]:
    """Enter the barrier; there are no blocks, and no results."""
    dist.barrier(group=group)
    return blocks


@framework()
def axis_index(_: list[Tensor], group: Group) -> list[Tensor]:
    """Return the number that ``get_rank`` gives, as a tensor."""
    return [torch.tensor(dist.get_rank(group), dtype=torch.int32)]


@framework()
def axis_size(_: list[Tensor], group: Group) -> list[Tensor]:
    """Return the number that ``get_world_size`` gives, as a tensor."""
    return [torch.tensor(dist.get_world_size(group), dtype=torch.int32)]


def reduction(op: str, factor: float) -> Any:
    """Return ``ReduceOp.SUM`` for ``sum``, and so on; raise ``Refused`` for a name that stands for none."""
    if op == "premul_sum":
        premultiplied: Any = dist.ReduceOp.PREMUL_SUM
        return premultiplied(factor)
    if op not in NAMES:
        raise Refused(f"no member of ReduceOp is the reduction {op!r}; known are {', '.join(NAMES)}, premul_sum")
    return getattr(dist.ReduceOp, NAMES[op])


@framework()
def split(block: Tensor, size: int, axis: int, tiled: bool) -> list[Tensor]:
    """Return equal pieces that keep ``axis`` (tiled), or slices that lose it; views where Torch can."""
    return list(block.chunk(size, axis) if tiled else block.unbind(axis))


def without(shape: torch.Size, axis: int) -> list[int]:
    """Return ``shape`` without the extent of ``axis``."""
    return [extent for at, extent in enumerate(shape) if at != axis % len(shape)]


@framework()
def joined(blocks: list[Tensor], axis: int, tiled: bool) -> Tensor:
    """Return the blocks concatenated along ``axis`` (tiled) or stacked at it."""
    return torch.cat(blocks, axis) if tiled else torch.stack(blocks, axis)


OPERATIONS: Final[dict[str, Operation]] = {
    "all_reduce": mapped(all_reduce),
    "reduce": mapped(reduce),
    "all_gather": mapped(all_gather),
    "gather": mapped(gather),
    "scatter": mapped(scatter),
    "reduce_scatter": mapped(reduce_scatter),
    "all_to_all": mapped(all_to_all),
    "all_to_all_uneven": mapped(all_to_all_uneven),
    "permute": mapped(permute),
    "shuffle": mapped(shuffle),
    "send": mapped(send),
    "recv": mapped(recv),
    "broadcast": mapped(broadcast),
    "barrier": barrier,
    "axis_index": axis_index,
    "axis_size": axis_size,
}
