"""Messages between two members: ``batch_isend_irecv`` where both ends are in one step, else isend, irecv and waits."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

from conformance.backends.attribution import framework
from conformance.backends.base import Refused, Unsupported

Group = dist.ProcessGroup
Tensor = torch.Tensor
Pairs = tuple[tuple[int, int], ...]

TAGS = itertools.count(1)
"""A tag for every send step, the same on all ranks, for all run the same steps: a message that is never received
must not meet the receive of a later step."""


class Token(NamedTuple):
    """The sends of this rank under way, and the tag by which receives find their messages."""

    sends: list[Any]
    tag: int


def tagged() -> Token:
    """Return the token of the next send step."""
    return Token([], next(TAGS))


@framework()
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


def shuffle(block: Tensor, group: Group, *, sources: tuple[int, ...]) -> Tensor:
    """Permute along the pairs that the list of sources spells; c10d has no call that takes a permutation.

    Raise ``Unsupported`` where the list is none: the pairs of such a one are a legal batch.
    """
    if sorted(sources) != list(range(group.size())):
        raise Unsupported(f"sources {list(sources)} are no permutation, and c10d knows sends and receives alone")
    return permute(block, group, pairs=tuple((source, position) for position, source in enumerate(sources)))


@framework()
def send(block: Tensor, group: Group, *, pairs: Pairs) -> Token:
    """Start this rank's sends; nobody waits for them unless the token is taken."""
    token = tagged()
    for source, destination in pairs:
        if source == group.rank():
            token.sends.append(dist.isend(block, group=group, group_dst=destination, tag=token.tag))
    return token


def recv(token: Token, group: Group, *, pairs: Pairs, shape: tuple[int, ...], dtype: str) -> Tensor:
    """Receive into zeros, which stay where nothing arrives."""
    return received(token, group, torch.zeros(shape, dtype=getattr(torch, dtype)), pairs)


@framework()
def received(token: Token, group: Group, out: Tensor, pairs: Pairs) -> Tensor:
    """Return ``out``: start this rank's receives into it, and wait for them and for its sends.

    Where nobody sends it is cleared, and last of all: what is refused writes nothing.
    """
    receives = [
        dist.irecv(out, group=group, group_src=source, tag=token.tag)
        for source, destination in pairs
        if destination == group.rank()
    ]
    for work in [*receives, *token.sends]:
        work.wait()
    return out if receives else out.zero_()


def fits(out: Tensor | None, shape: tuple[int, ...], dtype: str) -> Tensor:
    """Return the tensor to receive into; raise ``Refused`` for one of another shape or dtype.

    It is by this tensor alone that Torch learns a shape and a dtype, so others beside it cannot be said.
    """
    if out is None:
        return torch.zeros(shape, dtype=getattr(torch, dtype))
    if (tuple(out.shape), out.dtype) != (shape, getattr(torch, dtype)):
        raise Refused(f"{dtype} {shape} is received, which does not fit {out.dtype} {tuple(out.shape)}")
    return out
