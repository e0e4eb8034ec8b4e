"""Functional collectives as a traced program has them: what is started is the operator, and each has one wait.

While it is traced, a functional collective waits by itself, so what is started and waited for later is written with the
operators that the functions call. Torch's own functions stay where they move data beside the collective.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch.multiprocessing.reductions import StorageWeakRef

from conformance.backends.attribution import framework
from conformance.backends.base import Unsupported
from conformance.backends.torch import functional as eager
from conformance.backends.torch.operation import Form, Operation, Started, mapped

Group = dist.ProcessGroup
Tensor = torch.Tensor
Table = tuple[tuple[int, ...], ...]

CALLS: Final = torch.ops._c10d_functional  # noqa: SLF001 - torch.inductor.comm_lowering names the operators so


def all_reduce(block: Tensor, group: Group, out: Tensor | None, *, op: str, **more: Any) -> Started:
    """Reduce one block; in place the function waits."""
    name = eager.over_ranks(op, more.get("factor", 1.0), more.get("local_axes", ()))
    with framework():
        if out is None:
            return _waited_for(CALLS.all_reduce(block, name, group.group_name))
        own(block, out)
        return _done(functional.all_reduce_inplace(out, name, group))


def all_gather(block: Tensor, group: Group, out: Tensor | None, *, axis: int, tiled: bool) -> Started:
    """Concatenate at dimension 0; at another the function waits, for it moves what it gets."""
    if not tiled:
        raise Unsupported("functional all_gather_single concatenates; it has no stacked form")
    with framework():
        if out is not None:
            return _done(functional.all_gather_tensor_inplace(out, block, group, gather_dim=axis))
        if axis != 0:
            return _done(functional.all_gather_single(block, axis, group))
        return _waited_for(CALLS.all_gather_into_tensor(block, group.size(), group.group_name))


def reduce_scatter(
    block: Tensor, group: Group, out: Tensor | None, *, op: str, axis: int, tiled: bool, **more: Any
) -> Started:
    """Scatter dimension 0; at another the function first moves what it scatters."""
    if not tiled:
        raise Unsupported("functional reduce_scatter_single keeps the dimension; it has no stacked form")
    name = eager.reduction(op, more.get("factor", 1.0))
    with framework():
        if out is not None:
            return _done(functional.reduce_scatter_tensor_inplace(out, block, name, group, scatter_dim=axis))
        if axis != 0:
            return _done(functional.reduce_scatter_single(block, name, axis, group))
        return _waited_for(CALLS.reduce_scatter_tensor(block, name, group.size(), group.group_name))


def all_to_all_uneven(block: Tensor, group: Group, out: Tensor | None, *, sends: Table, receives: Table) -> Started:
    """Exchange parts of dimension 0 of the sizes this rank's rows of the two tables give."""
    rank = group.rank()
    taken, given = list(receives[rank]), list(sends[rank])
    with framework():
        if out is not None:
            return _done(functional.all_to_all_inplace(out, block, taken, given, group))
        return _waited_for(CALLS.all_to_all_single(block, taken, given, group.group_name))


def broadcast(block: Tensor, group: Group, out: Tensor | None, *, root: int) -> Started:
    """Broadcast from ``root``, a position in the group; there is no function in place, but an assign of the result."""
    with framework():
        if out is None:
            return _waited_for(CALLS.broadcast(block, root, group.group_name))
        own(block, out)
        return _done(out.copy_(CALLS.wait_tensor(CALLS.broadcast(block, root, group.group_name))))


def own(block: Tensor, out: Tensor) -> None:
    """Raise ``Unsupported`` unless both are the same memory; tensors without data have a storage, and no address."""
    one, other = (StorageWeakRef(each.untyped_storage()) for each in (block, out))  # type: ignore[no-untyped-call]  # it has no annotations
    same = one == other
    if not same or (out.storage_offset(), out.shape, out.stride()) != (
        block.storage_offset(), block.shape, block.stride(),
    ):  # fmt: skip
        raise Unsupported("the operation works in place: it has no output beside its input")


def _waited_for(tensor: Tensor) -> Started:
    """Return what is under way, of which the operator ``wait_tensor`` gives the result.

    Asked again it is the result, as with Torch's tensors of such results, which wait when they are used first.
    """
    done: list[Tensor] = []

    def finish() -> Tensor:
        with framework():
            if not done:
                done.append(CALLS.wait_tensor(tensor))
        return done[0]

    return Started(None, finish)


def _done(tensor: Tensor) -> Started:
    """Return what is there already."""
    return Started(None, lambda: tensor)


def _at_once(start: Form, coalesced: Operation) -> Operation:
    """Return the operation that starts and waits, and of several operands takes Torch's form for them."""

    def operation(blocks: list[Any], group: Any, **attrs: Any) -> list[Any]:
        return coalesced(blocks, group, **attrs) if len(blocks) > 1 else [_result(start, blocks[0], group, attrs)]

    return operation


def _each(start: Form) -> Operation:
    """Return the operation that starts and waits for each block."""
    return mapped(lambda block, group, **attrs: _result(start, block, group, attrs))


def _result(start: Form, block: Any, group: Any, attrs: Mapping[str, Any]) -> Any:
    return start(block, group, None, **attrs).finish()


def several_reduced(blocks: list[Tensor], group: Group, *, op: str, **more: Any) -> list[Tensor]:
    """Reduce several blocks in one call."""
    name = eager.over_ranks(op, more.get("factor", 1.0), more.get("local_axes", ()))
    with framework():
        return _all(CALLS.all_reduce_coalesced(blocks, name, group.group_name))


def several_gathered(blocks: list[Tensor], group: Group, *, axis: int, tiled: bool) -> list[Tensor]:
    """Gather several blocks in one call at dimension 0, and else one by one."""
    if axis != 0 or not tiled:
        return _each(all_gather)(blocks, group, axis=axis, tiled=tiled)
    with framework():
        return _all(CALLS.all_gather_into_tensor_coalesced(blocks, group.size(), group.group_name))


def several_scattered(
    blocks: list[Tensor], group: Group, *, op: str, axis: int, tiled: bool, **more: Any
) -> list[Tensor]:
    """Scatter several blocks in one call at dimension 0, and else one by one."""
    if axis != 0 or not tiled:
        return _each(reduce_scatter)(blocks, group, op=op, axis=axis, tiled=tiled, **more)
    name = eager.reduction(op, more.get("factor", 1.0))
    with framework():
        return _all(CALLS.reduce_scatter_tensor_coalesced(blocks, name, group.size(), group.group_name))


def _all(started: list[Tensor]) -> list[Tensor]:
    return [CALLS.wait_tensor(each) for each in started]


def all_to_all(block: Tensor, group: Group, *, split_axis: int, concat_axis: int, tiled: bool) -> Tensor:
    """Shard ``split_axis`` and gather ``concat_axis``: an operator that waits by itself."""
    if not tiled:
        raise Unsupported("shard_dim_alltoall keeps both dimensions; it has no stacked form")
    with framework():
        operator = torch.ops._dtensor.shard_dim_alltoall  # noqa: SLF001 - as above
        found: Tensor = operator(block, concat_axis, split_axis, group.group_name)
        return found


OPERATIONS: Final[dict[str, Operation | Form]] = {
    "all_reduce": _at_once(all_reduce, several_reduced),
    "all_gather": _at_once(all_gather, several_gathered),
    "reduce_scatter": _at_once(reduce_scatter, several_scattered),
    "all_to_all": mapped(all_to_all),
    "all_to_all_uneven": _each(all_to_all_uneven),
    "broadcast": _each(broadcast),
    "start_all_reduce": all_reduce,
    "start_all_gather": all_gather,
    "start_reduce_scatter": reduce_scatter,
    "start_all_to_all_uneven": all_to_all_uneven,
    "start_broadcast": broadcast,
}
"""What carries each operation on a rank that is traced."""
