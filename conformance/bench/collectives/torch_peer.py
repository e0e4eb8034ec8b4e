"""Torch over gloo: one rank of c10d, in-place tensors where the call has such a form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from conformance.bench.collectives.point import Point, wrong


class TorchPeer:
    """One rank, one process."""

    def __init__(self, rank: int, ranks: int, folder: str) -> None:
        """Join the group; ranks meet through a file of the benchmark's own."""
        self._rank = rank
        dist.init_process_group("gloo", init_method=f"file://{Path(folder) / 'store'}", rank=rank, world_size=ranks)

    def describe(self) -> dict[str, str]:
        """Return version and threads."""
        return {"torch": str(torch.__version__), "threads a rank": str(torch.get_num_threads())}

    def prepare(self, point: Point) -> None:
        """Make this rank's tensors, and run once."""
        self._point = point
        self._input = torch.from_numpy(point.block(self._rank))
        out = {"all_reduce": 0, "all_gather": point.size // 4, "all_to_all": point.size // 4}
        self._output = torch.zeros(out.get(point.op, point.size // 4 // point.ranks))
        # Typed as any calls, for dist has none for its own.
        calls: dict[str, Any] = {
            "all_reduce": lambda: dist.all_reduce(self._input),
            "reduce_scatter": lambda: dist.reduce_scatter_tensor(self._output, self._input),
            "all_gather": lambda: dist.all_gather_into_tensor(self._output, self._input),
            "all_to_all": lambda: dist.all_to_all_single(self._output, self._input),
        }
        self._call = calls[point.op]
        self.once()

    def once(self) -> None:
        """Call; gloo's calls return when the tensor is there."""
        self._call()

    def meet(self) -> None:
        """Wait for every rank."""
        dist.barrier()

    def wrong(self) -> int:
        """Return how many elements of this rank differ."""
        self._input.copy_(torch.from_numpy(self._point.block(self._rank)))
        self.once()
        found = self._input if self._point.op == "all_reduce" else self._output
        return wrong(np.asarray(found), self._point.expected()[self._rank])


def peer(rank: int, ranks: int, folder: str) -> TorchPeer:
    """Return the peer."""
    return TorchPeer(rank, ranks, folder)
