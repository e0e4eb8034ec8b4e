"""Names of MPI, run on four processes of the installed implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.specification.framework_names.rows import WORLD, Rows, reference, says

mpi_rows = Rows("mpi")

X = [[1, 10], [2, 20], [3, 30], [4, 40]]
SQUARE = [[10 * rank + column for column in range(WORLD)] for rank in range(WORLD)]


def block(rank: int, rows: list[Any] = X, dtype: str = "int32") -> Any:
    return np.array(rows[rank], dtype)


def world() -> Any:
    from mpi4py import MPI

    return MPI.COMM_WORLD


def reduced(operation: str, rank: int, rows: list[Any] = X, dtype: str = "int32") -> Any:
    from mpi4py import MPI

    out = np.empty_like(block(rank, rows, dtype))
    world().Allreduce(block(rank, rows, dtype), out, getattr(MPI, operation))
    return out


REDUCTIONS = {"SUM": "sum", "PROD": "product", "MAX": "max", "MIN": "min", "BAND": "and", "BOR": "or", "BXOR": "xor"}
for theirs, ours in REDUCTIONS.items():
    mpi_rows(f"MPI_{theirs}", ours=reference("all_reduce", X, op=ours))(
        lambda rank, theirs=theirs: reduced(theirs, rank)
    )

BITS = [[1, 2], [2, 2], [1, 2], [1, 2]]
BOOLS = [[True, False], [True, True], [True, False], [True, False]]
for theirs, ours, logical in (("LAND", "and", [1, 1]), ("LOR", "or", [1, 1]), ("LXOR", "xor", [0, 0])):
    mpi_rows(f"MPI_{theirs}", ours=reference("all_reduce", BOOLS, dtype="bool", op=ours))(
        lambda rank, theirs=theirs: reduced(theirs, rank, BOOLS, "bool")
    )
    mpi_rows(f"MPI_{theirs}", "of integers", ours=reference("all_reduce", BITS, op=ours), theirs=f"int32 {logical}")(
        lambda rank, theirs=theirs: reduced(theirs, rank, BITS)
    )

NAN = [[1.0], [2.0], [float("nan")], [3.0]]
mpi_rows(
    "MPI_MAX",
    "of NaN in MPICH",
    ours=reference("all_reduce", NAN, dtype="float64", op="max"),
    theirs=["float64 [3.0]", "float64 [nan]", "float64 [3.0]", "float64 [2.0]"],
)(lambda rank: reduced("MAX", rank, NAN, "float64"))

PLACES = [[1, 5], [7, 5], [7, 0], [2, 3]]


@mpi_rows("MPI_MAXLOC", ours=reference("arg_reduce", PLACES, op="max"))
def _(rank: int) -> Any:
    return located("MAXLOC", rank)


@mpi_rows("MPI_MINLOC", ours=reference("arg_reduce", PLACES, op="min"))
def _(rank: int) -> Any:
    return located("MINLOC", rank)


def located(operation: str, rank: int) -> Any:
    from mpi4py import MPI

    pairs = np.array([(value, rank) for value in PLACES[rank]], np.int32)
    out = np.empty_like(pairs)
    world().Allreduce([pairs, 2, MPI.TWOINT], [out, 2, MPI.TWOINT], getattr(MPI, operation))
    return out[:, 1]


@mpi_rows("MPI_Allreduce", ours=reference("all_reduce", X, op="sum"))
def _(rank: int) -> Any:
    return reduced("SUM", rank)


@mpi_rows("MPI_Bcast", ours=reference("broadcast", X, root=1))
def _(rank: int) -> Any:
    x = block(rank)
    world().Bcast(x, root=1)
    return x


@mpi_rows("MPI_Bcast", "root in a communicator", ours=reference("broadcast", X, root=1, groups=((0, 2), (1, 3))))
def _(rank: int) -> Any:
    x = block(rank)
    world().Split(rank % 2, rank).Bcast(x, root=1)
    return x


@mpi_rows("MPI_Comm_split", ours=reference("all_gather", X, axis=0, tiled=True, groups=((2, 0), (3, 1))))
def _(rank: int) -> Any:
    out = np.empty(4, np.int32)
    world().Split(rank % 2, -rank).Allgather(block(rank), out)
    return out


@mpi_rows("MPI_Reduce", ours=reference("reduce", X, op="sum", root=2))
def _(rank: int) -> Any:
    out = np.empty(2, np.int32) if rank == 2 else None
    world().Reduce(block(rank), out, root=2)
    return out


@mpi_rows("MPI_Gather", ours=reference("gather", X, root=2, axis=0, tiled=True))
def _(rank: int) -> Any:
    out = np.empty(2 * WORLD, np.int32) if rank == 2 else None
    world().Gather(block(rank), out, root=2)
    return out


@mpi_rows("MPI_Scatter", ours=reference("scatter", SQUARE, root=2, axis=0, tiled=True))
def _(rank: int) -> Any:
    out = np.empty(1, np.int32)
    world().Scatter(block(rank, SQUARE) if rank == 2 else None, out, root=2)
    return out


@mpi_rows("MPI_Allgather", ours=reference("all_gather", X, axis=0, tiled=True))
def _(rank: int) -> Any:
    out = np.empty(2 * WORLD, np.int32)
    world().Allgather(block(rank), out)
    return out


LENGTHS = [1, 2, 0, 3]
RAGGED = [[10 * rank + at for at in range(LENGTHS[rank])] for rank in range(WORLD)]
ALL = [each for row in RAGGED for each in row]
NO_FORM = says("rejected by collective.C20")


def joined(function: str) -> Callable[[int], Any]:
    def run(rank: int) -> Any:
        out = np.empty(len(ALL), np.int32)
        mine = np.array(RAGGED[rank], np.int32)
        if function == "Allgatherv":
            world().Allgatherv(mine, [out, LENGTHS])
            return out
        if function == "Gatherv":
            world().Gatherv(mine, [out, LENGTHS] if rank == 0 else None, root=0)
            return out if rank == 0 else None
        world().Scatterv([np.array(ALL, np.int32), LENGTHS] if rank == 0 else None, mine, root=0)
        return mine

    return run


GATHERED = f"int32 {ALL}"
mpi_rows("MPI_Allgatherv", ours=NO_FORM, theirs=GATHERED)(joined("Allgatherv"))
mpi_rows("MPI_Gatherv", ours=NO_FORM, theirs=[GATHERED, "nothing", "nothing", "nothing"])(joined("Gatherv"))
mpi_rows(
    "MPI_Scatterv",
    ours=reference("scatter", [ALL] * WORLD, root=0, axis=0, tiled=True),
    theirs=[f"int32 {row}" for row in RAGGED],
)(joined("Scatterv"))


@mpi_rows("MPI_Reduce_scatter_block", ours=reference("reduce_scatter", SQUARE, op="sum", axis=0, tiled=True))
def _(rank: int) -> Any:
    out = np.empty(1, np.int32)
    world().Reduce_scatter_block(block(rank, SQUARE), out)
    return out


@mpi_rows("MPI_Reduce_scatter", ours=reference("reduce_scatter", SQUARE, op="sum", axis=0, tiled=True))
def _(rank: int) -> Any:
    out = np.empty(1, np.int32)
    world().Reduce_scatter(block(rank, SQUARE), out, [1] * WORLD)
    return out


FIVE = [[rank] * 5 for rank in range(WORLD)]


@mpi_rows(
    "MPI_Reduce_scatter",
    "with unequal counts",
    ours=reference("reduce_scatter", FIVE, op="sum", axis=0, tiled=True),
    theirs=["int32 [6, 6]", "int32 [6]", "int32 [6]", "int32 [6]"],
)
def _(rank: int) -> Any:
    out = np.empty(2 if rank == 0 else 1, np.int32)
    world().Reduce_scatter(block(rank, FIVE), out, [2, 1, 1, 1])
    return out


@mpi_rows("MPI_Alltoall", ours=reference("all_to_all", SQUARE, split_axis=0, concat_axis=0, tiled=True))
def _(rank: int) -> Any:
    out = np.empty(WORLD, np.int32)
    world().Alltoall(block(rank, SQUARE), out)
    return out


SENDS = [[1, 2, 0, 1], [0, 1, 1, 1], [2, 0, 0, 0], [1, 1, 1, 1]]
RECEIVES = [[SENDS[source][rank] for source in range(WORLD)] for rank in range(WORLD)]
UNEVEN = [list(range(10 * rank, 10 * rank + sum(SENDS[rank]))) for rank in range(WORLD)]


@mpi_rows(
    "MPI_Alltoallv",
    ours=reference("all_to_all_uneven", UNEVEN, sends=tuple(map(tuple, SENDS)), receives=tuple(map(tuple, RECEIVES))),
)
def _(rank: int) -> Any:
    out = np.empty(sum(RECEIVES[rank]), np.int32)
    world().Alltoallv([block(rank, UNEVEN), SENDS[rank]], [out, RECEIVES[rank]])
    return out


@mpi_rows("MPI_Scan", ours=reference("scan", X, op="sum", exclusive=False))
def _(rank: int) -> Any:
    out = np.empty(2, np.int32)
    world().Scan(block(rank), out)
    return out


FIRST = ["int32 [-7, -7]", "int32 [1, 10]", "int32 [3, 30]", "int32 [6, 60]"]


@mpi_rows("MPI_Exscan", ours=reference("scan", X, op="sum", exclusive=True), theirs=FIRST)
def _(rank: int) -> Any:
    out = np.full(2, -7, np.int32)
    world().Exscan(block(rank), out)
    return out


@mpi_rows("MPI_Barrier", ours=says("nothing"))
def _(rank: int) -> Any:
    return world().Barrier()


RING = reference("permute", X, pairs=((0, 1), (1, 2), (2, 3), (3, 0)))


@mpi_rows("MPI_Sendrecv", ours=RING)
def _(rank: int) -> Any:
    out = np.empty(2, np.int32)
    world().Sendrecv(block(rank), (rank + 1) % WORLD, recvbuf=out, source=(rank - 1) % WORLD)
    return out


@mpi_rows(
    "MPI_PROC_NULL",
    ours=reference("permute", X, pairs=((0, 1), (1, 2), (2, 3))),
    theirs=["int32 [-7, -7]", "int32 [1, 10]", "int32 [2, 20]", "int32 [3, 30]"],
)
def _(rank: int) -> Any:
    from mpi4py import MPI

    out = np.full(2, -7, np.int32)
    after, before = (rank + 1 if rank < WORLD - 1 else MPI.PROC_NULL), (rank - 1 if rank else MPI.PROC_NULL)
    world().Sendrecv(block(rank), after, recvbuf=out, source=before)
    return out


for name in ("MPI_Send", "MPI_Recv"):

    @mpi_rows(name, ours=reference("permute", X, pairs=((0, 1), (2, 3))))
    def _(rank: int) -> Any:
        out = np.zeros(2, np.int32)
        _ = world().Recv(out, rank - 1) if rank % 2 else world().Send(block(rank), rank + 1)
        return out


@mpi_rows("MPI_Send", "twice to one rank", ours=says("int32 [0, 0]", "int32 [1, 2]", "int32 [0, 0]", "int32 [0, 0]"))
def _(rank: int) -> Any:
    out = np.zeros(2, np.int32)
    for place in range(2):
        if rank == 0:
            world().Send(np.array([place + 1], np.int32), 1)
        elif rank == 1:
            world().Recv(out[place : place + 1], 0)
    return out


for name in ("MPI_Isend", "MPI_Irecv"):

    @mpi_rows(name, ours=RING)
    def _(rank: int) -> Any:
        from mpi4py import MPI

        out = np.empty(2, np.int32)
        took = world().Irecv(out, (rank - 1) % WORLD)
        MPI.Request.Waitall([took, world().Isend(block(rank), (rank + 1) % WORLD)])
        return out


for name in ("MPI_Iallreduce", "MPI_Wait"):

    @mpi_rows(name, ours=reference("all_reduce", X, op="sum"))
    def _(rank: int) -> Any:
        out = np.empty(2, np.int32)
        world().Iallreduce(block(rank), out).Wait()
        return out


@mpi_rows("MPI_Comm_rank", ours=says("int 0", "int 0", "int 1", "int 1"))
def _(rank: int) -> Any:
    return world().Split(rank % 2, rank).Get_rank()


@mpi_rows("MPI_Comm_size", ours=says("int 2"))
def _(rank: int) -> Any:
    return world().Split(rank % 2, rank).Get_size()


@mpi_rows("MPI_Bcast", "with a root outside the communicator", ours=reference("broadcast", X, root=4))
def _(rank: int) -> Any:
    from mpi4py import MPI

    mine = world().Dup()
    mine.Set_errhandler(MPI.ERRORS_RETURN)
    mine.Bcast(block(rank), root=WORLD)
