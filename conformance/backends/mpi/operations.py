"""One function an operation, each the call a user of mpi4py would write, on one rank.

Attributes become arguments of MPI and derived datatypes; what NumPy or MPI says of illegal ones is what the suite wants
to know, so nothing is checked here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from mpi4py import MPI

from conformance.backends.base import Unsupported
from conformance.backends.mpi.datatypes import Datatypes, elements, pairs, unwritten
from conformance.cases.dtypes import NUMPY, Array

Pairs = tuple[tuple[int, int], ...]
Table = tuple[tuple[int, ...], ...]

NAMES: Final = {"product": "PROD", "and": "BAND", "or": "BOR", "xor": "BXOR"}
LOGICAL: Final = {"and": "LAND", "or": "LOR", "xor": "LXOR"}
"""The members of MPI that are not the reduction's name in capitals, and those for logical types."""


class Token(NamedTuple):
    """The sends of this rank under way with the block they read, and the tag by which receives find their messages."""

    sends: list[MPI.Request]
    block: Array
    tag: int


def all_reduce(block: Array, comm: MPI.Comm, *, op: str, local_axes: tuple[int, ...] = ()) -> Array:
    """Return what ``Allreduce`` leaves in fresh memory."""
    if local_axes:
        raise Unsupported("MPI_Allreduce reduces over ranks and keeps the shape; it has no local axes")
    out = unwritten(block.shape, block.dtype)
    comm.Allreduce(elements(block), elements(out), reduction(op, block.dtype))
    return out


def reduce(block: Array, comm: MPI.Comm, *, op: str, root: int) -> Array | None:
    """Return what ``Reduce`` leaves on the root."""
    out = unwritten(block.shape, block.dtype)
    at_root = comm.Get_rank() == root
    comm.Reduce(elements(block), elements(out) if at_root else None, reduction(op, block.dtype), root)
    return out if at_root else None


def reduce_scatter(block: Array, comm: MPI.Comm, *, op: str, axis: int, tiled: bool) -> Array:
    """Return what ``Reduce_scatter_block`` leaves of the pieces, packed one behind the other unless they lie so."""
    pieces = split(block, comm.Get_size(), axis, tiled)
    packed = np.stack(pieces)
    out = unwritten(pieces[0].shape, block.dtype)
    send, _, element = elements(packed)
    comm.Reduce_scatter_block((send, out.size, element), elements(out), reduction(op, block.dtype))
    return out


def arg_reduce(block: Array, comm: MPI.Comm, *, op: str) -> Array:
    """Return the positions that ``MAXLOC`` or ``MINLOC`` leaves beside the values."""
    made, datatype = pairs(block, comm.Get_rank())
    out = np.zeros_like(made)
    comm.Allreduce((made, made.size, datatype), (out, out.size, datatype), getattr(MPI, f"{op.upper()}LOC"))
    return out["position"].copy()


def all_gather(block: Array, comm: MPI.Comm, *, axis: int, tiled: bool) -> Array:
    """Gather into the places that the blocks have in the joined result."""
    out, slots = joined(block, comm.Get_size(), axis, tiled)
    with Datatypes() as described:
        comm.Allgather(described(block), described(*slots))
    return out


def gather(block: Array, comm: MPI.Comm, *, root: int, axis: int, tiled: bool) -> Array | None:
    """Gather on the root into the places that the blocks have in the joined result."""
    # Every rank looks at the axis, though only the root joins, so that what is wrong with it is wrong for all.
    out, slots = joined(block, comm.Get_size(), axis, tiled)
    at_root = comm.Get_rank() == root
    with Datatypes() as described:
        comm.Gather(described(block), described(*slots) if at_root else None, root)
    return out if at_root else None


def scatter(block: Array, comm: MPI.Comm, *, root: int, axis: int, tiled: bool) -> Array:
    """Scatter the pieces of the root's block from where they lie."""
    pieces = split(block, comm.Get_size(), axis, tiled)
    out = unwritten(pieces[0].shape, block.dtype)
    with Datatypes() as described:
        comm.Scatter(described(*pieces) if comm.Get_rank() == root else None, described(out), root)
    return out


def all_to_all(block: Array, comm: MPI.Comm, *, split_axis: int, concat_axis: int, tiled: bool) -> Array:
    """Exchange pieces from where they lie to the places that they have in the joined result."""
    pieces = split(block, comm.Get_size(), split_axis, tiled)
    out, slots = joined(pieces[0], comm.Get_size(), concat_axis, tiled)
    with Datatypes() as described:
        comm.Alltoall(described(*pieces), described(*slots))
    return out


def all_to_all_uneven(block: Array, comm: MPI.Comm, *, sends: Table, receives: Table) -> Array:
    """Exchange as many rows as this rank's rows of the two tables say."""
    sent, received = sends[comm.Get_rank()], receives[comm.Get_rank()]
    out = unwritten((max(sum(received), 0), *block.shape[1:]), block.dtype)
    with Datatypes() as described:
        source, row = described.rows(block)
        target, out_row = described.rows(out)
        comm.Alltoallv((source, (sent, starts(sent)), row), (target, (received, starts(received)), out_row))
    return out


def broadcast(block: Array, comm: MPI.Comm, *, root: int) -> Array:
    """Broadcast the root's block from where it lies; ``Bcast`` leaves it as it is there and writes it elsewhere."""
    buffer = block if comm.Get_rank() == root else unwritten(block.shape, block.dtype)
    with Datatypes() as described:
        comm.Bcast(described(buffer), root)
    return buffer


def permute(block: Array, comm: MPI.Comm, tag: int, *, pairs: Pairs) -> Array:
    """Send to this rank's destination while receiving from its source; zeros stay where nothing arrives."""
    rank = comm.Get_rank()
    out = np.zeros(block.shape, block.dtype)
    destination = next((q for p, q in pairs if p == rank), MPI.PROC_NULL)
    source = next((p for p, q in pairs if q == rank), MPI.PROC_NULL)
    with Datatypes() as described:
        comm.Sendrecv(described(block), destination, tag, described(out), source, tag)
    return out


def shuffle(block: Array, comm: MPI.Comm, tag: int, *, sources: tuple[int, ...]) -> Array:
    """Permute along the pairs that the list of sources spells."""
    return permute(block, comm, tag, pairs=tuple((source, position) for position, source in enumerate(sources)))


def send(block: Array, comm: MPI.Comm, tag: int, *, pairs: Pairs) -> Token:
    """Start this rank's sends; nobody waits for them unless the token is taken."""
    with Datatypes() as described:
        message = described(block)
        started = [comm.Isend(message, q, tag) for p, q in pairs if p == comm.Get_rank()]
    return Token(started, block, tag)


def recv(token: Token, comm: MPI.Comm, *, pairs: Pairs, shape: tuple[int, ...], dtype: str) -> Array:
    """Start this rank's receives and wait for them and for its sends; zeros stay where nothing arrives."""
    out = np.zeros(shape, NUMPY[dtype])
    with Datatypes() as described:
        message = described(out)
        started = [comm.Irecv(message, p, token.tag) for p, q in pairs if q == comm.Get_rank()]
    MPI.Request.Waitall([*started, *token.sends])
    return out


def barrier(comm: MPI.Comm) -> None:
    """Enter the barrier."""
    comm.Barrier()


def axis_index(comm: MPI.Comm) -> Array:
    """Return the number that ``Get_rank`` gives, as an array."""
    return np.array(comm.Get_rank(), np.int32)


def axis_size(comm: MPI.Comm) -> Array:
    """Return the number that ``Get_size`` gives, as an array."""
    return np.array(comm.Get_size(), np.int32)


def reduction(op: str, dtype: np.dtype[Any]) -> MPI.Op:
    """Return ``MPI.SUM`` for ``sum``, and so on; mpi4py raises ``AttributeError`` for a name it lacks."""
    names = {**NAMES, **LOGICAL} if dtype == np.bool_ else NAMES
    found: MPI.Op = getattr(MPI, names.get(op, op.upper()))
    return found


def split(block: Array, size: int, axis: int, tiled: bool) -> list[Array]:
    """Return views of equal pieces that keep ``axis`` (tiled), or have extent 1 and lose it."""
    pieces = np.split(block, size, axis)
    return pieces if tiled else [piece.squeeze(axis) for piece in pieces]


def joined(block: Array, size: int, axis: int, tiled: bool) -> tuple[Array, list[Array]]:
    """Return memory for blocks concatenated along ``axis`` (tiled) or stacked at it, and the place of each in it."""
    whole = list(block.shape if tiled else np.expand_dims(block, axis).shape)
    whole[axis] *= size
    out = unwritten(whole, block.dtype)
    return out, split(out, size, axis, tiled)


def starts(counts: Sequence[int]) -> list[int]:
    """Return where parts of these sizes begin when they follow one another."""
    return [sum(counts[:part]) for part in range(len(counts))]


def _by_name(*functions: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    return {function.__name__: function for function in functions}


MAPPED: Final = _by_name(
    all_reduce,
    reduce,
    reduce_scatter,
    arg_reduce,
    all_gather,
    gather,
    scatter,
    all_to_all,
    all_to_all_uneven,
    broadcast,
    recv,
)
"""Called with one block after the other."""

TAGGED: Final = _by_name(permute, shuffle, send)
"""The same, with a number for each step besides: a message that is never received must not meet a later receive."""

ALONE: Final = _by_name(barrier, axis_index, axis_size)
"""Called without a block."""
