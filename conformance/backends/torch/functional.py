"""Functional collectives: the dimension and the reduction's name are arguments of Torch.

Several operands, or none, go through the coalesced forms where there is one. What writes a tensor that it is given
goes through the operators of that kind (``all_reduce_``, ``broadcast_``, those with an ``out``), else through the
functions that Torch puts in the place of c10d's (``*_inplace``), which wait by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional

from conformance.backends.attribution import framework
from conformance.backends.base import Unsupported
from conformance.backends.torch.c10d_forms import own
from conformance.backends.torch.operation import Form, Operation, Started, mapped
from conformance.backends.torch.point_to_point import Pairs, Token, fits, tagged

Group = dist.ProcessGroup
Tensor = torch.Tensor
Table = tuple[tuple[int, ...], ...]

NAMES: Final = {"mean": "avg", "and": "band", "or": "bor", "xor": "bxor"}
"""Names of reductions in Torch where they are others."""


def all_reduce(
    blocks: list[Tensor], group: Group, *, op: str, factor: float = 1.0, local_axes: tuple[int, ...] = ()
) -> list[Tensor]:
    """Reduce; the input is documented to be left unmodified. The coalesced form takes tensors of one dtype."""
    if len(blocks) == 1 or len({block.dtype for block in blocks}) > 1:
        reduced = partial(start_all_reduce, op=op, factor=factor, local_axes=local_axes)
        return [wait(reduced(block, group, None)) for block in blocks]
    name = over_ranks(op, factor, local_axes)
    with framework():
        return waited(functional.all_reduce_coalesced(blocks, name, group))


def all_gather(blocks: list[Tensor], group: Group, *, axis: int, tiled: bool) -> list[Tensor]:
    """Concatenate over ``gather_dim``, which the coalesced form has not: there it is 0."""
    if len(blocks) == 1 or axis != 0 or not tiled:
        return [wait(start_all_gather(block, group, None, axis=axis, tiled=tiled)) for block in blocks]
    with framework():
        return waited(functional.all_gather_single_coalesced(blocks, group))


def reduce_scatter(
    blocks: list[Tensor], group: Group, *, op: str, axis: int, tiled: bool, factor: float = 1.0
) -> list[Tensor]:
    """Scatter over ``scatter_dim``; "the input tensors are left unmodified", so the list of them is given as it is."""
    if len(blocks) == 1 or not tiled:
        scattered = partial(start_reduce_scatter, op=op, axis=axis, tiled=tiled, factor=factor)
        return [wait(scattered(block, group, None)) for block in blocks]
    name = reduction(op, factor)
    with framework():
        return waited(functional.reduce_scatter_single_coalesced(blocks, name, [axis] * len(blocks), group))


def all_to_all(block: Tensor, group: Group, *, split_axis: int, concat_axis: int, tiled: bool) -> Tensor:
    """Shard ``split_axis`` and gather ``concat_axis``: the operator by which a sharding moves to another dimension."""
    if not tiled:
        raise Unsupported("shard_dim_alltoall keeps both dimensions; it has no stacked form")
    with framework():
        shard_dim_alltoall = torch.ops._dtensor.shard_dim_alltoall  # noqa: SLF001 - torch.inductor.comm_lowering names it so
        return wait(shard_dim_alltoall(block, concat_axis, split_axis, group.group_name))


def permute(block: Tensor, group: Group, *, pairs: Pairs) -> Tensor:
    """Post the sends and receives of this rank as one batch, peers by their group rank; zeros stay where none comes."""
    rank = group.rank()
    posted = [("isend", destination) for source, destination in pairs if source == rank]
    posted += [("irecv", source) for source, destination in pairs if destination == rank]
    with framework():
        out = block.new_zeros(block.shape)
        tensors = [block if kind == "isend" else out for kind, _ in posted]
        kinds, peers = [kind for kind, _ in posted], [peer for _, peer in posted]
        if posted:
            waited(functional.batch_p2p_ops_inplace(kinds, peers, [0] * len(posted), tensors, group))
        return out


def shuffle(block: Tensor, group: Group, *, sources: tuple[int, ...]) -> Tensor:
    """Permute by the list of destinations: "src_dst[m] == n means m sends to n"."""
    if sorted(sources) != list(range(group.size())):
        raise Unsupported("permute_tensor is told one destination of each source")
    destinations = [sources.index(position) for position in range(group.size())]
    with framework():
        return wait(functional.permute_tensor(block, destinations, group))


def send(block: Tensor, group: Group, *, pairs: Pairs) -> Token:
    """Start this rank's sends; nobody waits for them unless the token is taken."""
    token = tagged()
    for source, destination in pairs:
        if source == group.rank():
            with framework():
                # Either of dst and group_dst is to be given, and what is not given is None, whatever is annotated.
                begun = functional.isend_inplace(block, None, token.tag, group, destination)  # type: ignore[arg-type]
                token.sends.append(begun)
    return token


def recv(token: Token, group: Group, *, pairs: Pairs, shape: tuple[int, ...], dtype: str) -> Tensor:
    """Receive into zeros, which stay where nothing arrives."""
    return received(token, group, fits(None, shape, dtype), pairs)


def received(token: Token, group: Group, out: Tensor, pairs: Pairs) -> Tensor:
    """Return ``out``: start this rank's receives into it, and wait for them and for its sends."""
    sources = [source for source, destination in pairs if destination == group.rank()]
    with framework():
        receives = [
            functional.irecv_inplace(out, None, token.tag, group, source)  # type: ignore[arg-type]  # see above
            for source in sources
        ]
        waited([*receives, *token.sends])
        return out if receives else out.zero_()


def reduction(op: str, factor: float) -> str:
    """Return the name of a reduction in Torch; Torch refuses those it does not know."""
    if op == "premul_sum":
        raise Unsupported(f"functional collectives name a reduction by a word, which has no place for {factor}")
    return NAMES.get(op, op)


def over_ranks(op: str, factor: float, local_axes: tuple[int, ...]) -> str:
    """Return the name of a reduction that is over ranks alone."""
    if local_axes:
        raise Unsupported("functional all_reduce reduces over ranks and keeps the shape; it has no local axes")
    return reduction(op, factor)


@framework()
def wait(started: Any) -> Tensor:
    """Return the result of a started collective."""
    done: Tensor = functional.wait_tensor(started)  # type: ignore[no-untyped-call]  # it has no annotations
    return done


def waited(started: list[Any]) -> list[Tensor]:
    """Return the results of a started collective."""
    return [wait(tensor) for tensor in started]


def start_all_reduce(
    block: Tensor, group: Group, out: Tensor | None, *, op: str, factor: float = 1.0, local_axes: tuple[int, ...] = ()
) -> Any:
    """Reduce one block, in place where it is the tensor to write."""
    name = over_ranks(op, factor, local_axes)
    target = None if out is None else own(block, out)
    with framework():
        if target is None:
            return functional.all_reduce(block, name, group)
        return torch.ops._c10d_functional.all_reduce_(target, name, group.group_name)  # noqa: SLF001 - the operator's name


def start_all_gather(block: Tensor, group: Group, out: Tensor | None, *, axis: int, tiled: bool) -> Any:
    """Concatenate one block over ``gather_dim``."""
    if not tiled:
        raise Unsupported("functional all_gather_single concatenates; it has no stacked form")
    with framework():
        if out is None:
            return functional.all_gather_single(block, axis, group)
        if axis != 0:
            return functional.all_gather_tensor_inplace(out, block, group, gather_dim=axis)
        gather = torch.ops._c10d_functional.all_gather_into_tensor_out  # noqa: SLF001 - the operator's name
        return gather(block, group.size(), group.group_name, out=out)


def start_reduce_scatter(
    block: Tensor, group: Group, out: Tensor | None, *, op: str, axis: int, tiled: bool, factor: float = 1.0
) -> Any:
    """Scatter one block over ``scatter_dim``."""
    if not tiled:
        raise Unsupported("functional reduce_scatter_single keeps the dimension; it has no stacked form")
    name = reduction(op, factor)
    with framework():
        if out is None:
            return functional.reduce_scatter_single(block, name, axis, group)
        if axis != 0:
            return functional.reduce_scatter_tensor_inplace(out, block, name, group, scatter_dim=axis)
        scatter = torch.ops._c10d_functional.reduce_scatter_tensor_out  # noqa: SLF001 - the operator's name
        return scatter(block, name, group.size(), group.group_name, out=out)


def start_all_to_all_uneven(block: Tensor, group: Group, out: Tensor | None, *, sends: Table, receives: Table) -> Any:
    """Exchange parts of dimension 0 of the sizes this rank's rows of the two tables give."""
    rank = group.rank()
    taken, given = list(receives[rank]), list(sends[rank])
    with framework():
        if out is None:
            return functional.all_to_all_single(block, taken, given, group)
        return functional.all_to_all_inplace(out, block, taken, given, group)


def start_broadcast(block: Tensor, group: Group, out: Tensor | None, *, root: int) -> Any:
    """Broadcast from ``root``, a position in the group, in place where the block is the tensor to write."""
    target = None if out is None else own(block, out)
    with framework():
        if target is None:
            return functional.broadcast(block, root, group)
        return torch.ops._c10d_functional.broadcast_(target, root, group.group_name)  # noqa: SLF001 - the operator's name


def start_recv(
    token: Token, group: Group, out: Tensor | None, *, pairs: Pairs, shape: tuple[int, ...], dtype: str
) -> Tensor:
    """Receive into the given tensor, which is cleared where nobody sends, for then no receive is posted."""
    return received(token, group, fits(out, shape, dtype), pairs)


def waiting(start: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return the function that starts and waits."""
    return lambda block, group, **attrs: wait(start(block, group, None, **attrs))


def form(start: Callable[..., Tensor]) -> Form:
    """Return the form of a function whose result is not waited for yet."""

    def started(block: Tensor, group: Group, out: Tensor | None, **attrs: Any) -> Started:
        tensor = start(block, group, out, **attrs)
        return Started(None, lambda: wait(tensor))

    return started


OPERATIONS: Final[dict[str, Operation | Form]] = {
    "all_reduce": all_reduce,
    "all_gather": all_gather,
    "reduce_scatter": reduce_scatter,
    "all_to_all": mapped(all_to_all),
    "all_to_all_uneven": mapped(waiting(start_all_to_all_uneven)),
    "broadcast": mapped(waiting(start_broadcast)),
    "permute": mapped(permute),
    "shuffle": mapped(shuffle),
    "send": mapped(send),
    "recv": mapped(recv),
    "start_all_reduce": form(start_all_reduce),
    "start_all_gather": form(start_all_gather),
    "start_reduce_scatter": form(start_reduce_scatter),
    "start_all_to_all_uneven": form(start_all_to_all_uneven),
    "start_broadcast": form(start_broadcast),
    "start_recv": form(start_recv),
}
