"""MPI_IN_PLACE, run on four processes of the installed implementation."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.specification.framework_names.mpi_rows import SQUARE, X, block, mpi_rows, world
from tests.specification.framework_names.rows import WORLD, reference, says


@mpi_rows("MPI_IN_PLACE", ours=reference("all_reduce", X, op="sum"))
def _(rank: int) -> Any:
    from mpi4py import MPI

    x = block(rank)
    world().Allreduce(MPI.IN_PLACE, x)
    return x


@mpi_rows(
    "MPI_IN_PLACE",
    "of MPI_Reduce_scatter_block",
    ours=says("int32 [60, 100]", "int32 [64, 101]", "int32 [68, 102]", "int32 [72, 103]"),
)
def _(rank: int) -> Any:
    from mpi4py import MPI

    x = np.array([*block(rank, SQUARE), 100 + rank], np.int32)
    world().Reduce_scatter_block(MPI.IN_PLACE, [x, 1, MPI.INT])
    return x[[0, 4]]


@mpi_rows("MPI_IN_PLACE", "of MPI_Reduce", ours=says("int32 [10, 100]", *(f"int32 {row}" for row in X[1:])))
def _(rank: int) -> Any:
    from mpi4py import MPI

    x = block(rank)
    world().Reduce(*((x, None) if rank else (MPI.IN_PLACE, x)), root=0)
    return x


@mpi_rows("MPI_IN_PLACE", "of MPI_Allgather", ours=reference("all_gather", X, axis=0, tiled=True))
def _(rank: int) -> Any:
    from mpi4py import MPI

    x = np.zeros(2 * WORLD, np.int32)
    x[2 * rank : 2 * rank + 2] = block(rank)
    world().Allgather(MPI.IN_PLACE, x)
    return x


@mpi_rows(
    "MPI_IN_PLACE", "of MPI_Alltoall", ours=reference("all_to_all", SQUARE, split_axis=0, concat_axis=0, tiled=True)
)
def _(rank: int) -> Any:
    from mpi4py import MPI

    x = block(rank, SQUARE)
    world().Alltoall(MPI.IN_PLACE, x)
    return x


@mpi_rows("MPI_IN_PLACE", "of MPI_Scan", ours=reference("scan", X, op="sum", exclusive=False))
def _(rank: int) -> Any:
    from mpi4py import MPI

    x = block(rank)
    world().Scan(MPI.IN_PLACE, x)
    return x


@mpi_rows("MPI_IN_PLACE", "of MPI_Scatter", ours=says("int32 [0]", "int32 [1]", "int32 [2]", "int32 [3]"))
def _(rank: int) -> Any:
    from mpi4py import MPI

    x, out = block(0, SQUARE), np.empty(1, np.int32)
    world().Scatter(x, out if rank else MPI.IN_PLACE, root=0)
    return out if rank else x[:1]
