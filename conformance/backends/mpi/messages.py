"""Point to point: the calls that pass messages between ranks, told apart by tags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from mpi4py import MPI

from conformance.backends.attribution import framework
from conformance.backends.base import Unsupported
from conformance.backends.mpi.claims import EQUAL_GROUPS, FORMS, PAIRS, claimed
from conformance.backends.mpi.datatypes import Datatypes, one_place, unwritten
from conformance.backends.mpi.operations import Call, Target, filled
from conformance.cases.tensor.dtypes import NUMPY, Array

Pairs = tuple[tuple[int, int], ...]

TAGS: Final = 32768
"""Tags that every MPI has, from 0 on: its standard promises an upper bound of at least 32767."""

TAGGED: Final[dict[str, Callable[..., Call]]] = {}
"""One call of MPI for one block, with a tag: a message that is never received must not meet a later receive."""

TOKENS: Final[dict[str, Callable[..., Any]]] = {}
"""Several calls of their own, with a tag too."""


class Token(NamedTuple):
    """The sends of this rank under way with the block they read, and the tag by which receives find their messages."""

    sends: list[MPI.Request]
    block: Array
    tag: int


# MPI_Sendrecv on every rank: it combines "the sending of a message to one destination and the receiving of another
# message". A list of sources that is legal names every position once.
@claimed(TAGGED, PAIRS, FORMS)
def permute(block: Array, out: Target, comm: MPI.Comm, described: Datatypes, tag: int, *, pairs: Pairs) -> Call:
    """``Sendrecv``, in place ``Sendrecv_replace``, to this rank's destination and from its source."""
    rank = comm.Get_rank()
    target = filled(out, block.shape, block.dtype)
    destinations, sources = [q for p, q in pairs if p == rank], [p for p, q in pairs if q == rank]
    if not destinations or not sources:
        raise Unsupported("MPI_Sendrecv sends and receives one message; for who receives none it leaves no zeros")
    destination, source = destinations[0], sources[0]
    if one_place(block, out):
        return Call("Sendrecv_replace", (described(target), destination, tag, source, tag), lambda: target, (block,))
    arguments = (described(block), destination, tag, described(target), source, tag)
    return Call("Sendrecv", arguments, lambda: target, (block,))


@claimed(TAGGED, EQUAL_GROUPS, FORMS)
def shuffle(
    block: Array, out: Target, comm: MPI.Comm, described: Datatypes, tag: int, *, sources: tuple[int, ...]
) -> Call:
    """Permute along the pairs that the list of sources spells."""
    pairs = tuple((source, position) for position, source in enumerate(sources))
    return permute(block, out, comm, described, tag, pairs=pairs)


# A send that no receive matches makes a program erroneous.
@claimed(TOKENS, PAIRS, tokens=("received",))
def send(block: Array, comm: MPI.Comm, tag: int, *, pairs: Pairs) -> Token:
    """Start this rank's sends; nobody waits for them unless the token is taken."""
    with Datatypes() as described:
        message = described(block)
        with framework():
            started = [comm.Isend(message, q, tag) for p, q in pairs if p == comm.Get_rank()]
    return Token(started, block, tag)


@claimed(TOKENS, PAIRS)
def recv(token: Token, comm: MPI.Comm, tag: int, *, pairs: Pairs, shape: tuple[int, ...], dtype: str) -> Array:
    """Start this rank's receive and wait for it and for its send."""
    del tag  # The token has that of the send.
    sources = [p for p, q in pairs if q == comm.Get_rank()]
    if not sources:
        raise Unsupported("a receive of MPI has a sender; for who has none it leaves no zeros")
    out = unwritten(shape, NUMPY[dtype])
    with Datatypes() as described:
        message = described(out)
        with framework():
            started = [comm.Irecv(message, source, token.tag) for source in sources]
    with framework():
        MPI.Request.Waitall([*started, *token.sends])
    return out
