"""MPI's nonblocking and persistent operations, modes of sending, and waits for several requests, on four processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.specification.framework_names.mpi_rows import (
    FIRST,
    RECEIVES,
    RING,
    SENDS,
    SQUARE,
    UNEVEN,
    WORLD,
    X,
    block,
    mpi_rows,
    world,
)
from tests.specification.framework_names.rows import reference, says


def started(name: str, rows: list[Any], length: int, *more: Any, root: int | None = None) -> Callable[[int], Any]:
    """Return a nonblocking collective that is waited for; one to a ``root`` gives the other ranks nothing."""

    def run(rank: int) -> Any:
        out = np.full(length, -7, np.int32)
        at = {} if root is None else {"root": root}
        getattr(world(), name)(block(rank, rows), out, *more, **at).Wait()
        return out if root in (None, rank) else None

    return run


def enter(name: str, ours: Any, *given: Any, **more: Any) -> None:
    mpi_rows(f"MPI_{name}", ours=ours)(started(name, *given, **more))


enter("Ireduce", reference("reduce", X, op="sum", root=2), X, 2, root=2)
enter("Igather", reference("gather", X, root=2, axis=0, tiled=True), X, 2 * WORLD, root=2)
enter("Iallgather", reference("all_gather", X, axis=0, tiled=True), X, 2 * WORLD)
enter("Ialltoall", reference("all_to_all", SQUARE, split_axis=0, concat_axis=0, tiled=True), SQUARE, WORLD)
enter("Ireduce_scatter_block", reference("reduce_scatter", SQUARE, op="sum", axis=0, tiled=True), SQUARE, 1)
enter("Iscan", reference("scan", X, op="sum", exclusive=False), X, 2)
mpi_rows("MPI_Iexscan", ours=reference("scan", X, op="sum", exclusive=True), theirs=FIRST)(started("Iexscan", X, 2))


@mpi_rows("MPI_Ibcast", ours=reference("broadcast", X, root=1))
def _(rank: int) -> Any:
    x = block(rank)
    world().Ibcast(x, root=1).Wait()
    return x


@mpi_rows("MPI_Iscatter", ours=reference("scatter", SQUARE, root=2, axis=0, tiled=True))
def _(rank: int) -> Any:
    out = np.empty(1, np.int32)
    world().Iscatter(block(rank, SQUARE) if rank == 2 else None, out, root=2).Wait()
    return out


@mpi_rows(
    "MPI_Ialltoallv",
    ours=reference("all_to_all_uneven", UNEVEN, sends=tuple(map(tuple, SENDS)), receives=tuple(map(tuple, RECEIVES))),
)
def _(rank: int) -> Any:
    out = np.empty(sum(RECEIVES[rank]), np.int32)
    world().Ialltoallv([block(rank, UNEVEN), SENDS[rank]], [out, RECEIVES[rank]]).Wait()
    return out


@mpi_rows("MPI_Ibarrier", ours=says("nothing"))
def _(rank: int) -> Any:
    world().Ibarrier().Wait()


@mpi_rows("MPI_Allreduce_init", ours=reference("all_reduce", X, op="sum"))
def _(rank: int) -> Any:
    x, out = np.zeros(2, np.int32), np.empty(2, np.int32)
    call = world().Allreduce_init(x, out)
    for begun in ([7, 7], block(rank)):
        x[:] = begun
        call.Start()
        call.Wait()
    call.Free()
    return out


PAIRED = reference("permute", X, pairs=((0, 1), (2, 3)))


def sent(mode: str) -> Callable[[int], Any]:
    def run(rank: int) -> Any:
        from mpi4py import MPI

        out = np.zeros(2, np.int32)
        if rank % 2:
            world().Recv(out, rank - 1)
        elif mode == "Bsend":
            MPI.Attach_buffer(np.empty(1000 + MPI.BSEND_OVERHEAD, np.int8))
            world().Bsend(block(rank), rank + 1)
            MPI.Detach_buffer()
        elif mode == "Issend":
            world().Issend(block(rank), rank + 1).Wait()
        else:
            world().Ssend(block(rank), rank + 1)
        return out

    return run


for mode in ("Ssend", "Bsend", "Issend"):
    mpi_rows(f"MPI_{mode}", ours=PAIRED)(sent(mode))


@mpi_rows("MPI_Sendrecv_replace", ours=RING)
def _(rank: int) -> Any:
    x = block(rank)
    world().Sendrecv_replace(x, (rank + 1) % WORLD, source=(rank - 1) % WORLD)
    return x


def waited(function: str) -> Callable[[int], Any]:
    """Return two messages around the ring that are waited for by one function."""

    def run(rank: int) -> Any:
        from mpi4py import MPI

        outs = np.empty((2, 2), np.int32)
        requests = [world().Irecv(out, (rank - 1) % WORLD, tag) for tag, out in enumerate(outs)]
        requests += [world().Isend(block(rank), (rank + 1) % WORLD, tag) for tag in (1, 0)]
        left = len(requests)
        while left:
            if function == "Waitall":
                MPI.Request.Waitall(requests)
                left = 0
            elif function == "Waitany":
                MPI.Request.Waitany(requests)
                left -= 1
            else:
                left -= len(MPI.Request.Waitsome(requests) or ())
        assert (outs[0] == outs[1]).all()
        return outs[1]

    return run


for function in ("Waitall", "Waitany", "Waitsome"):
    mpi_rows(f"MPI_{function}", ours=RING)(waited(function))
