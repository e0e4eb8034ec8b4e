"""MPI by mpi4py: one rank under mpiexec, on buffers."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI

from conformance.bench.collectives.point import Point, wrong


class MpiPeer:
    """One rank, one process."""

    def __init__(self) -> None:
        """Join the world."""
        self._world: Any = MPI.COMM_WORLD

    def describe(self) -> dict[str, str]:
        """Return the library's first line."""
        return {"mpi": MPI.Get_library_version().splitlines()[0].strip(" \0")}

    def prepare(self, point: Point) -> None:
        """Make this rank's arrays, and run once."""
        world = self._world
        self._point = point
        given = point.block(world.rank)
        size = point.size // 4 // (point.ranks if point.op == "reduce_scatter" else 1)
        self._output = np.zeros(size, np.float32)
        calls: dict[str, Any] = {
            "all_reduce": lambda: world.Allreduce(given, self._output),
            "reduce_scatter": lambda: world.Reduce_scatter_block(given, self._output),
            "all_gather": lambda: world.Allgather(given, self._output),
            "all_to_all": lambda: world.Alltoall(given, self._output),
        }
        self._call = calls[point.op]
        self.once()

    def once(self) -> None:
        """Call."""
        self._call()

    def meet(self) -> None:
        """Wait for every rank."""
        self._world.Barrier()

    def wrong(self) -> int:
        """Return how many elements of this rank differ."""
        self._output[:] = 0
        self.once()
        return wrong(self._output, self._point.expected()[self._world.rank])


def peer(_rank: int, _ranks: int, _folder: str) -> MpiPeer:
    """Return the peer."""
    return MpiPeer()
