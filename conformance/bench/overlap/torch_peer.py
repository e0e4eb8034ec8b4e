"""Torch over gloo: DDP for gradients that are averaged, FSDP2 where weights are shared out.

Of a step that goes backward the forward pass is done before the ranks meet, and is not timed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from conformance.bench.overlap.steps import Step, wrong


class Layer(nn.Module):
    """A square layer without bias, whose weights are as the step has them."""

    def __init__(self, weights: np.ndarray) -> None:
        """Take the weights."""
        super().__init__()
        self.weight = nn.Parameter(torch.from_numpy(weights.copy()))

    def forward(self, h: torch.Tensor) -> torch.Tensor:
        """Return the product."""
        return h @ self.weight


class TorchPeer:
    """One rank, one process."""

    def __init__(self, rank: int, ranks: int, folder: str) -> None:
        """Join the group; ranks meet through a file of the benchmark's own, and each has one thread."""
        torch.set_num_threads(1)
        self._rank = rank
        dist.init_process_group("gloo", init_method=f"file://{Path(folder) / 'store'}", rank=rank, world_size=ranks)

    def describe(self) -> dict[str, str]:
        """Return version and threads."""
        return {"torch": str(torch.__version__), "threads a rank": str(torch.get_num_threads())}

    def prepare(self, point: Step) -> None:
        """Make this rank's model and data, and run once."""
        self._step = point
        layers = [Layer(each) for each in point.weights()]
        whole = nn.Sequential(*layers)
        self._layers, self._model = layers, self._parallel(whole, layers)
        self._x = torch.from_numpy(point.blocks("x")[self._rank])
        self._g = torch.from_numpy(point.blocks("g")[self._rank])
        self.meet()
        self.once()

    def _parallel(self, whole: nn.Sequential, layers: list[Layer]) -> Any:
        if not self._step.sharded:
            # Dense buckets would all be one: each layer's gradient is 64 KiB.
            megabytes = self._step.width**2 * 4 * 2 / 2**20
            return nn.parallel.DistributedDataParallel(whole, bucket_cap_mb=megabytes)
        mesh = init_device_mesh("cpu", (self._step.ranks,))
        for each in layers:
            fully_shard(each, mesh=mesh)
        fully_shard(whole, mesh=mesh)
        return whole

    def meet(self) -> None:
        """Go forward where the step goes backward, and wait for every rank."""
        if self._step.backward:
            self._model.zero_grad(set_to_none=True)
            self._out = self._model(self._x)
        dist.barrier()

    def once(self) -> None:
        """Go backward, or forward where that is the step."""
        if self._step.backward:
            self._out.backward(self._g)
        else:
            with torch.no_grad():
                self._out = self._model(self._x)

    def wrong(self) -> int:
        """Return how many elements of this rank are wrong."""
        self.meet()
        self.once()
        found = [np.asarray(_local(each.weight.grad)) for each in self._layers] if self._step.backward else []
        return wrong(found or [np.asarray(self._out)], self._step.expected(self._rank))


def _local(gradient: Any) -> torch.Tensor:
    found: torch.Tensor = gradient.to_local() if hasattr(gradient, "to_local") else gradient
    return found


def peer(rank: int, ranks: int, folder: str) -> TorchPeer:
    """Return the peer."""
    return TorchPeer(rank, ranks, folder)
