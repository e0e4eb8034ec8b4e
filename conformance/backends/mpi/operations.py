"""One function an operation, each the call a user of mpi4py would write, on one rank.

Attributes become arguments of MPI and derived datatypes; what NumPy or MPI says of illegal ones is what the suite wants
to know, so nothing is checked here but that a target is what the result fills: MPI is told an address, a count and a
datatype, and cannot see a shape. Where operand and target are one and MPI has ``MPI_IN_PLACE`` for what is asked, that
is the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from mpi4py import MPI

from conformance.backends.base import Unsupported
from conformance.backends.mpi.claims import ANY_GROUPS, EQUAL_GROUPS, FORMS, ONE_BUFFER, REDUCING, claimed
from conformance.backends.mpi.datatypes import Datatypes, adjacent, elements, one_place, pairs, unwritten
from conformance.cases.tensor.dtypes import Array

Table = tuple[tuple[int, ...], ...]
Target = Array | None


class Call(NamedTuple):
    """A call of MPI: what mpi4py names it, its arguments, and what gives this rank's result once it is complete.

    ``reads`` are the arrays its arguments are addresses of, which have to live as long as it is under way.
    """

    name: str
    arguments: tuple[Any, ...]
    result: Callable[[], Array | None]
    reads: tuple[Array, ...]


CALLS: Final[dict[str, Callable[..., Call]]] = {}
"""One call of MPI for one block."""

ALONE: Final[dict[str, Callable[..., Array | None]]] = {}
"""Called without a block."""

NAMES: Final = {
    "sum": MPI.SUM, "product": MPI.PROD, "max": MPI.MAX, "min": MPI.MIN,
    "and": MPI.BAND, "or": MPI.BOR, "xor": MPI.BXOR,
}  # fmt: skip
LOGICAL: Final = {**NAMES, "and": MPI.LAND, "or": MPI.LOR, "xor": MPI.LXOR}
LOCATING: Final = {"max": MPI.MAXLOC, "min": MPI.MINLOC}
"""The predefined operation that each reduction is, of logical types, and of pairs of a value and its position."""


@claimed(CALLS, ANY_GROUPS, REDUCING, FORMS, local_axes=("empty",))
def all_reduce(
    block: Array, out: Target, comm: MPI.Comm, described: Datatypes, *, op: str, local_axes: tuple[int, ...] = ()
) -> Call:
    """``Allreduce``, in place where operand and target are one."""
    del comm, described
    if local_axes:
        raise Unsupported("MPI_Allreduce reduces over ranks and keeps the shape; it has no local axes")
    return _folded("Allreduce", block, out, op)


@claimed(CALLS, ANY_GROUPS, REDUCING, FORMS)
def reduce(block: Array, out: Target, comm: MPI.Comm, described: Datatypes, *, op: str, root: int) -> Call:
    """``Reduce``, in place on the root where operand and target are one; the others' targets are not looked at."""
    del described
    target = filled(out, block.shape, block.dtype)
    at_root = comm.Get_rank() == root
    source = MPI.IN_PLACE if at_root and one_place(block, out) else elements(block)
    into = elements(target)
    arguments = (source, into if at_root else None, reduction(op, block.dtype), root)
    return Call("Reduce", arguments, lambda: target if at_root else out, (block,))


# Of an exclusive scan the first member's buffer is undefined (6.11.2), so nothing can be claimed of what is left there.
@claimed(CALLS, ANY_GROUPS, REDUCING, FORMS, exclusive=("false",))
def scan(block: Array, out: Target, comm: MPI.Comm, described: Datatypes, *, op: str, exclusive: bool) -> Call:
    """``Scan``, in place where operand and target are one."""
    del comm, described
    if exclusive:
        raise Unsupported("MPI_Exscan leaves the buffer of the first member undefined")
    return _folded("Scan", block, out, op)


def _folded(name: str, block: Array, out: Target, op: str) -> Call:
    """Return the call that folds blocks into a target like them, in place where operand and target are one."""
    target = filled(out, block.shape, block.dtype)
    source = MPI.IN_PLACE if one_place(block, out) else elements(block)
    return Call(name, (source, elements(target), reduction(op, block.dtype)), lambda: target, (block,))


@claimed(CALLS, EQUAL_GROUPS, REDUCING, FORMS)
def reduce_scatter(
    block: Array, out: Target, comm: MPI.Comm, described: Datatypes, *, op: str, axis: int, tiled: bool
) -> Call:
    """``Reduce_scatter_block`` of the pieces, packed one behind the other unless they lie so."""
    del described
    pieces = split(block, comm.Get_size(), axis, tiled)
    target = filled(out, pieces[0].shape, block.dtype)
    packed = block if adjacent(pieces) else np.stack(pieces)
    address, _, element = elements(packed)
    # In place the target holds all pieces, and is the operand only where there is one, or nothing in any.
    source = MPI.IN_PLACE if one_place(packed, out) else (address, target.size, element)
    arguments = (source, elements(target), reduction(op, block.dtype))
    return Call("Reduce_scatter_block", arguments, lambda: target, (packed,))


# MPI_MAXLOC and MPI_MINLOC of pairs of a value and its index: MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT and
# MPI_SHORT_INT are all the pairs there are.
@claimed(CALLS, ANY_GROUPS, op=("max", "min"), dtype=("int16", "int32", "int64", "float32", "float64"))
def arg_reduce(block: Array, out: Target, comm: MPI.Comm, described: Datatypes, *, op: str) -> Call:
    """``Allreduce`` by ``MAXLOC`` or ``MINLOC``, which leave positions beside the values."""
    del described
    if out is not None:
        raise Unsupported("MAXLOC and MINLOC leave values and positions in pairs; no target is like that")
    made, datatype = pairs(block, comm.Get_rank())
    found = np.zeros_like(made)
    arguments = ((made, made.size, datatype), (found, found.size, datatype), named(op, LOCATING))
    return Call("Allreduce", arguments, found["position"].copy, (made,))


@claimed(CALLS, EQUAL_GROUPS, FORMS)
def all_gather(block: Array, out: Target, comm: MPI.Comm, described: Datatypes, *, axis: int, tiled: bool) -> Call:
    """``Allgather`` into the places that the blocks have in the joined result."""
    target, slots = joined(block, out, comm.Get_size(), axis, tiled)
    # In place the operand lies in its place in the target, and is all of it only where there is one member.
    source = MPI.IN_PLACE if one_place(block, out) else described(block)
    return Call("Allgather", (source, described(*slots)), lambda: target, (block,))


@claimed(CALLS, EQUAL_GROUPS, FORMS)
def gather(
    block: Array, out: Target, comm: MPI.Comm, described: Datatypes, *, root: int, axis: int, tiled: bool
) -> Call:
    """``Gather`` on the root into the places that the blocks have in the joined result; in place like ``Allgather``."""
    # Every rank looks at the axis, though only the root joins, so that what is wrong with it is wrong for all.
    target, slots = joined(block, out, comm.Get_size(), axis, tiled)
    at_root = comm.Get_rank() == root
    source = MPI.IN_PLACE if at_root and one_place(block, out) else described(block)
    arguments = (source, described(*slots) if at_root else None, root)
    return Call("Gather", arguments, lambda: target if at_root else out, (block,))


@claimed(CALLS, EQUAL_GROUPS, FORMS)
def scatter(
    block: Array, out: Target, comm: MPI.Comm, described: Datatypes, *, root: int, axis: int, tiled: bool
) -> Call:
    """``Scatter`` the pieces of the root's block from where they lie, where its own stays if that is its target."""
    pieces = split(block, comm.Get_size(), axis, tiled)
    target = filled(out, pieces[0].shape, block.dtype)
    at_root = comm.Get_rank() == root
    into = MPI.IN_PLACE if at_root and one_place(block, out) else described(target)
    return Call("Scatter", (described(*pieces) if at_root else None, into, root), lambda: target, (block,))


@claimed(CALLS, EQUAL_GROUPS, FORMS)
def all_to_all(
    block: Array, out: Target, comm: MPI.Comm, described: Datatypes, *, split_axis: int, concat_axis: int, tiled: bool
) -> Call:
    """``Alltoall`` from where the pieces lie to the places that they have in the joined result."""
    size, alike = comm.Get_size(), split_axis % block.ndim == concat_axis % block.ndim
    # What is exchanged in place "must have the same type map": other axes are a copy for the caller to make.
    block = np.array(block) if one_place(block, out) and not alike else block
    pieces = split(block, size, split_axis, tiled)
    target, slots = joined(pieces[0], out, size, concat_axis, tiled)
    source = MPI.IN_PLACE if one_place(block, out) else described(*pieces)
    return Call("Alltoall", (source, described(*slots)), lambda: target, (block,))


# "rows": blocks differ in their first extent, which is what the sizes say.
@claimed(CALLS, EQUAL_GROUPS, FORMS, ranks=("alike", "rows"))
def all_to_all_uneven(
    block: Array, out: Target, comm: MPI.Comm, described: Datatypes, *, sends: Table, receives: Table
) -> Call:
    """``Alltoallv`` of as many rows as this rank's rows of the two tables say."""
    sent, received = row_of(sends, comm), row_of(receives, comm)
    target = filled(out, (max(sum(received), 0), *block.shape[1:]), block.dtype)
    # In place there is one table, which has to be symmetric: any other is a copy for the caller to make.
    block = np.array(block) if one_place(block, out) and sends != receives else block
    address, out_row = described.rows(target)
    into = (address, (received, starts(received)), out_row)
    if one_place(block, out):
        return Call("Alltoallv", (MPI.IN_PLACE, into), lambda: target, (block,))
    source, row = described.rows(block)
    return Call("Alltoallv", ((source, (sent, starts(sent)), row), into), lambda: target, (block,))


@claimed(CALLS, ANY_GROUPS, ONE_BUFFER)
def broadcast(block: Array, out: Target, comm: MPI.Comm, described: Datatypes, *, root: int) -> Call:
    """``Bcast`` in place; else from where the root's block lies, of which the root's result is a copy."""
    if out is not None and not one_place(block, out):
        raise Unsupported(
            "MPI_Bcast has one buffer, which the root sends and the others receive: in place or not at all"
        )
    at_root = comm.Get_rank() == root
    buffer = block if at_root or out is not None else unwritten(block.shape, block.dtype)
    copies = at_root and out is None
    return Call("Bcast", (described(buffer), root), lambda: np.array(buffer) if copies else buffer, (block,))


@claimed(ALONE, ANY_GROUPS)
def barrier(comm: MPI.Comm) -> None:
    """Enter the barrier."""
    comm.Barrier()


@claimed(ALONE, ANY_GROUPS)
def axis_index(comm: MPI.Comm) -> Array:
    """Return the number that ``Get_rank`` gives, as an array."""
    return np.array(comm.Get_rank(), np.int32)


@claimed(ALONE, ANY_GROUPS)
def axis_size(comm: MPI.Comm) -> Array:
    """Return the number that ``Get_size`` gives, as an array."""
    return np.array(comm.Get_size(), np.int32)


def reduction(op: str, dtype: np.dtype[Any]) -> MPI.Op:
    """Return ``MPI.SUM`` for ``sum``, and so on."""
    return named(op, LOGICAL if dtype == np.bool_ else NAMES)


def named(op: str, table: Mapping[str, MPI.Op]) -> MPI.Op:
    """Return the operation of MPI that a reduction is; raise ``ValueError`` for a name that stands for none."""
    if op not in table:
        raise ValueError(f"no predefined operation of MPI is the reduction {op!r}; known are {', '.join(table)}")
    return table[op]


def split(block: Array, size: int, axis: int, tiled: bool) -> list[Array]:
    """Return views of equal pieces that keep ``axis`` (tiled), or have extent 1 and lose it."""
    pieces = np.split(block, size, axis)
    return pieces if tiled else [piece.squeeze(axis) for piece in pieces]


def joined(block: Array, out: Target, size: int, axis: int, tiled: bool) -> tuple[Array, list[Array]]:
    """Return the target of blocks concatenated along ``axis`` (tiled) or stacked at it, and the place of each in it."""
    whole = list(block.shape if tiled else np.expand_dims(block, axis).shape)
    whole[axis] *= size
    target = filled(out, whole, block.dtype)
    return target, split(target, size, axis, tiled)


def filled(out: Target, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """Return what a result goes into, fresh where nothing is given; raise ``ValueError`` where it does not fit."""
    if out is None:
        return unwritten(shape, dtype)
    if (out.shape, out.dtype) != (tuple(shape), dtype):
        raise ValueError(f"{dtype} {tuple(shape)} cannot be received in {out.dtype} {out.shape}")
    return out


def row_of(table: Table, comm: MPI.Comm) -> tuple[int, ...]:
    """Return this rank's row of a table, which is all that it is asked for; raise ``Unsupported`` where it has none."""
    if comm.Get_rank() >= len(table):
        raise Unsupported(f"each rank gives MPI the counts of its own, of which {table} has none for {comm.Get_rank()}")
    return table[comm.Get_rank()]


def starts(counts: Sequence[int]) -> list[int]:
    """Return where parts of these sizes begin when they follow one another."""
    return [sum(counts[:part]) for part in range(len(counts))]
