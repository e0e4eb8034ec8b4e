"""Functional collectives: out of place, with the dimension and the reduction's name as arguments of Torch.

Several operands, or none, go through the coalesced forms where there is one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

from conformance.backends.base import Unsupported
from conformance.backends.torch.operation import Form, Operation, Started, mapped

Group = dist.ProcessGroup
Tensor = torch.Tensor
Table = tuple[tuple[int, ...], ...]

NAMES: Final = {"mean": "avg", "and": "band", "or": "bor", "xor": "bxor"}
"""Names of reductions in Torch where they are others."""


def all_reduce(
    blocks: list[Tensor], group: Group, *, op: str, factor: float = 1.0, local_axes: tuple[int, ...] = ()
) -> list[Tensor]:
    """Reduce; the input is documented to be left unmodified."""
    if local_axes:
        raise Unsupported("functional all_reduce reduces over ranks and keeps the shape; it has no local axes")
    name = reduction(op, factor)
    if len(blocks) == 1:
        return [wait(start_all_reduce(blocks[0], group, op=op, factor=factor))]
    return waited(functional.all_reduce_coalesced(blocks, name, group))


def all_gather(blocks: list[Tensor], group: Group, *, axis: int, tiled: bool) -> list[Tensor]:
    """Concatenate over ``gather_dim``, which the coalesced form has not: there it is 0."""
    if not tiled:
        raise Unsupported("functional all_gather_single concatenates; it has no stacked form")
    if len(blocks) == 1 or axis != 0:
        return [wait(start_all_gather(block, group, axis=axis, tiled=tiled)) for block in blocks]
    return waited(functional.all_gather_single_coalesced(blocks, group))


def reduce_scatter(
    blocks: list[Tensor], group: Group, *, op: str, axis: int, tiled: bool, factor: float = 1.0
) -> list[Tensor]:
    """Scatter over ``scatter_dim``."""
    if not tiled:
        raise Unsupported("functional reduce_scatter_single keeps the dimension; it has no stacked form")
    name = reduction(op, factor)
    if len(blocks) == 1:
        return [wait(start_reduce_scatter(blocks[0], group, op=op, axis=axis, tiled=tiled, factor=factor))]
    # The call puts what it makes of an operand into its argument, hence a list of its own.
    return waited(functional.reduce_scatter_single_coalesced([*blocks], name, [axis] * len(blocks), group))


def all_to_all(block: Tensor, group: Group, *, split_axis: int, concat_axis: int, tiled: bool) -> Tensor:
    """Shard ``split_axis`` and gather ``concat_axis``: the operator by which a sharding moves to another dimension."""
    if not tiled:
        raise Unsupported("shard_dim_alltoall keeps both dimensions; it has no stacked form")
    shard_dim_alltoall = torch.ops._dtensor.shard_dim_alltoall  # noqa: SLF001 - source 002 names it so
    return wait(shard_dim_alltoall(block, concat_axis, split_axis, group.group_name))


def shuffle(block: Tensor, group: Group, *, sources: tuple[int, ...]) -> Tensor:
    """Permute by the list of destinations: "src_dst[m] == n means m sends to n"."""
    destinations = [sources.index(position) for position in range(group.size())]
    return wait(functional.permute_tensor(block, destinations, group))


def reduction(op: str, factor: float) -> str:
    """Return the name of a reduction in Torch; Torch refuses those it does not know."""
    if op == "premul_sum":
        raise Unsupported(f"functional collectives name a reduction by a word, which has no place for {factor}")
    return NAMES.get(op, op)


def wait(started: Any) -> Tensor:
    """Return the result of a started collective."""
    done: Tensor = functional.wait_tensor(started)  # type: ignore[no-untyped-call]  # it has no annotations
    return done


def waited(started: list[Any]) -> list[Tensor]:
    """Return the results of a started collective."""
    return [wait(tensor) for tensor in started]


def start_all_reduce(
    block: Tensor, group: Group, *, op: str, factor: float = 1.0, local_axes: tuple[int, ...] = ()
) -> Tensor:
    """Reduce one block."""
    if local_axes:
        raise Unsupported("functional all_reduce reduces over ranks and keeps the shape; it has no local axes")
    started: Tensor = functional.all_reduce(block, reduction(op, factor), group)
    return started


def start_all_gather(block: Tensor, group: Group, *, axis: int, tiled: bool) -> Tensor:
    """Concatenate one block over ``gather_dim``."""
    if not tiled:
        raise Unsupported("functional all_gather_single concatenates; it has no stacked form")
    started: Tensor = functional.all_gather_single(block, axis, group)
    return started


def start_reduce_scatter(
    block: Tensor, group: Group, *, op: str, axis: int, tiled: bool, factor: float = 1.0
) -> Tensor:
    """Scatter one block over ``scatter_dim``."""
    if not tiled:
        raise Unsupported("functional reduce_scatter_single keeps the dimension; it has no stacked form")
    started: Tensor = functional.reduce_scatter_single(block, reduction(op, factor), axis, group)
    return started


def start_all_to_all_uneven(block: Tensor, group: Group, *, sends: Table, receives: Table) -> Tensor:
    """Exchange parts of dimension 0 of the sizes this rank's rows of the two tables give."""
    rank = group.rank()
    started: Tensor = functional.all_to_all_single(block, list(receives[rank]), list(sends[rank]), group)
    return started


def start_broadcast(block: Tensor, group: Group, *, root: int) -> Tensor:
    """Broadcast from ``root``, a position in the group."""
    started: Tensor = functional.broadcast(block, root, group)
    return started


def waiting(start: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return the function that starts and waits."""
    return lambda block, group, **attrs: wait(start(block, group, **attrs))


def form(start: Callable[..., Tensor]) -> Form:
    """Return the form of a function whose result is not waited for yet; none of them writes a tensor it is given."""

    def started(block: Tensor, group: Group, out: Tensor | None, **attrs: Any) -> Started:
        if out is not None:
            raise Unsupported("functional collectives return new tensors")
        tensor = start(block, group, **attrs)
        return Started(None, lambda: wait(tensor))

    return started


OPERATIONS: Final[dict[str, Operation | Form]] = {
    "all_reduce": all_reduce,
    "all_gather": all_gather,
    "reduce_scatter": reduce_scatter,
    "all_to_all": mapped(all_to_all),
    "all_to_all_uneven": mapped(waiting(start_all_to_all_uneven)),
    "broadcast": mapped(waiting(start_broadcast)),
    "shuffle": mapped(shuffle),
    "start_all_reduce": form(start_all_reduce),
    "start_all_gather": form(start_all_gather),
    "start_reduce_scatter": form(start_reduce_scatter),
    "start_all_to_all_uneven": form(start_all_to_all_uneven),
    "start_broadcast": form(start_broadcast),
}
