"""The collectives of ``torch.distributed.nn``: those of c10d that autograd goes through.

Attributes become arguments; where a call has none for them, lists of chunks go in, and ``torch.cat`` or ``torch.stack``
joins the list that comes out.
"""

from __future__ import annotations

from typing import Any, Final

import torch
import torch.distributed as dist
from torch.distributed import nn

from conformance.backends.attribution import framework
from conformance.backends.torch.c10d import joined, reduction, split, without
from conformance.backends.torch.operation import Operation, mapped

Group = dist.ProcessGroup
Tensor = torch.Tensor

functional: Any = nn.functional
"""Its functions have no annotations."""


@framework()
def all_reduce(block: Tensor, group: Group, *, op: str) -> Tensor:
    """Reduce over the ranks of a group."""
    return _tensor(functional.all_reduce(block, op=reduction(op, 1.0), group=group))


@framework()
def all_gather(block: Tensor, group: Group, *, axis: int, tiled: bool) -> Tensor:
    """Gather a list and join it."""
    return joined(list(functional.all_gather(block, group=group)), axis, tiled)


@framework()
def reduce_scatter(block: Tensor, group: Group, *, op: str, axis: int, tiled: bool) -> Tensor:
    """Reduce a list of pieces, of which each rank keeps its own."""
    pieces = split(block, group.size(), axis, tiled)
    out = block.new_empty(pieces[0].shape if tiled else without(block.shape, axis))
    return _tensor(functional.reduce_scatter(out, pieces, op=reduction(op, 1.0), group=group))


@framework()
def all_to_all(block: Tensor, group: Group, *, split_axis: int, concat_axis: int, tiled: bool) -> Tensor:
    """Exchange parts of dimension 0 of one tensor; else a list of pieces."""
    if tiled and split_axis == concat_axis == 0:
        return _tensor(functional.all_to_all_single(torch.empty_like(block), block, group=group))
    pieces = split(block, group.size(), split_axis, tiled)
    received = [torch.empty_like(piece) for piece in pieces]
    return joined(list(functional.all_to_all(received, pieces, group=group)), concat_axis, tiled)


@framework()
def broadcast(block: Tensor, group: Group, *, root: int) -> Tensor:
    """Broadcast from the member at position ``root``, whose rank among all is what the call asks for."""
    return _tensor(functional.broadcast(block, dist.get_global_rank(group, root), group=group))


def _tensor(value: Any) -> Tensor:
    tensor: Tensor = value
    return tensor


OPERATIONS: Final[dict[str, Operation]] = {
    "all_gather": mapped(all_gather),
    "all_reduce": mapped(all_reduce),
    "all_to_all": mapped(all_to_all),
    "broadcast": mapped(broadcast),
    "reduce_scatter": mapped(reduce_scatter),
}
