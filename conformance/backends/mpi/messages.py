"""Point to point: the calls that pass messages between ranks, told apart by tags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from mpi4py import MPI

from conformance.backends.mpi.datatypes import Datatypes, one_place
from conformance.backends.mpi.operations import Call, Target, filled
from conformance.cases.dtypes import NUMPY, Array

Pairs = tuple[tuple[int, int], ...]

TAGS: Final = 32768
"""Tags that every MPI has, from 0 on: its standard promises an upper bound of at least 32767."""


class Token(NamedTuple):
    """The sends of this rank under way with the block they read, and the tag by which receives find their messages."""

    sends: list[MPI.Request]
    block: Array
    tag: int


def permute(block: Array, out: Target, comm: MPI.Comm, described: Datatypes, tag: int, *, pairs: Pairs) -> Call:
    """``Sendrecv``, in place ``Sendrecv_replace``, to this rank's destination and from its source, else zeros."""
    rank = comm.Get_rank()
    target = filled(out, block.shape, block.dtype)
    destination = next((q for p, q in pairs if p == rank), MPI.PROC_NULL)
    source = next((p for p, q in pairs if q == rank), MPI.PROC_NULL)

    def result() -> Array:
        if source == MPI.PROC_NULL:
            target[...] = np.zeros(target.shape, target.dtype)
        return target

    if one_place(block, out):
        return Call("Sendrecv_replace", (described(target), destination, tag, source, tag), result, (block,))
    arguments = (described(block), destination, tag, described(target), source, tag)
    return Call("Sendrecv", arguments, result, (block,))


def shuffle(
    block: Array, out: Target, comm: MPI.Comm, described: Datatypes, tag: int, *, sources: tuple[int, ...]
) -> Call:
    """Permute along the pairs that the list of sources spells."""
    pairs = tuple((source, position) for position, source in enumerate(sources))
    return permute(block, out, comm, described, tag, pairs=pairs)


def send(block: Array, comm: MPI.Comm, tag: int, *, pairs: Pairs) -> Token:
    """Start this rank's sends; nobody waits for them unless the token is taken."""
    with Datatypes() as described:
        message = described(block)
        started = [comm.Isend(message, q, tag) for p, q in pairs if p == comm.Get_rank()]
    return Token(started, block, tag)


def recv(token: Token, comm: MPI.Comm, tag: int, *, pairs: Pairs, shape: tuple[int, ...], dtype: str) -> Array:
    """Start this rank's receives and wait for them and for its sends; zeros stay where nothing arrives."""
    del tag  # The token has that of the sends.
    out = np.zeros(shape, NUMPY[dtype])
    with Datatypes() as described:
        message = described(out)
        started = [comm.Irecv(message, p, token.tag) for p, q in pairs if q == comm.Get_rank()]
    MPI.Request.Waitall([*started, *token.sends])
    return out


TAGGED: Final[dict[str, Callable[..., Call]]] = {"permute": permute, "shuffle": shuffle}
"""One call of MPI for one block, with a tag: a message that is never received must not meet a later receive."""

TOKENS: Final[dict[str, Callable[..., Token | Array]]] = {"send": send, "recv": recv}
"""Several calls of their own, with a tag too."""
