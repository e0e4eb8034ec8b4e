"""Functional collectives: out of place, with the dimension and the reduction's name as arguments of Torch."""

from __future__ import annotations

from typing import Final

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

from conformance.backends.base import Unsupported
from conformance.backends.torch.operation import Operation

Group = dist.ProcessGroup
Tensor = torch.Tensor


def all_reduce(block: Tensor, group: Group, *, op: str) -> Tensor:
    """Reduce; the input is documented to be left unmodified."""
    return waited(functional.all_reduce(block, op, group))


def all_gather(block: Tensor, group: Group, *, axis: int, tiled: bool) -> Tensor:
    """Concatenate over ``gather_dim``."""
    if not tiled:
        raise Unsupported("functional all_gather_single concatenates; it has no stacked form")
    return waited(functional.all_gather_single(block, axis, group))


def reduce_scatter(block: Tensor, group: Group, *, op: str, axis: int, tiled: bool) -> Tensor:
    """Scatter over ``scatter_dim``."""
    if not tiled:
        raise Unsupported("functional reduce_scatter_single keeps the dimension; it has no stacked form")
    return waited(functional.reduce_scatter_single(block, op, axis, group))


def broadcast(block: Tensor, group: Group, *, root: int) -> Tensor:
    """Broadcast from ``root``, a position in the group."""
    return waited(functional.broadcast(block, root, group))


def waited(started: Tensor) -> Tensor:
    """Return the result of a started collective."""
    done: Tensor = functional.wait_tensor(started)  # type: ignore[no-untyped-call]
    return done


OPERATIONS: Final[dict[str, Operation]] = {
    "all_reduce": all_reduce,
    "all_gather": all_gather,
    "reduce_scatter": reduce_scatter,
    "broadcast": broadcast,
}
