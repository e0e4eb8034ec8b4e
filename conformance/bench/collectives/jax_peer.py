"""JAX: a compiled shard_map over one virtual CPU device a rank, on inputs that lie there."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from conformance.bench.collectives.point import Point, wrong
from conformance.bench.virtual_devices import VirtualDevices

# JAX does not type it.
_spec: Any = PartitionSpec


class JaxPeer(VirtualDevices):
    """One process."""

    def prepare(self, point: Point) -> None:
        """Put the inputs on the devices, and compile."""
        self._point = point
        lax: Any = jax.lax
        spec = _spec("ranks")
        calls = {
            "all_reduce": lambda x: lax.psum(x, "ranks"),
            "reduce_scatter": lambda x: lax.psum_scatter(x, "ranks", tiled=True),
            "all_gather": lambda x: lax.all_gather(x, "ranks", tiled=True),
            "all_to_all": lambda x: lax.all_to_all(x, "ranks", 0, 0, tiled=True),
        }
        mapped = jax.shard_map(calls[point.op], mesh=self._mesh, in_specs=spec, out_specs=spec, check_vma=False)
        self._call = jax.jit(mapped)
        blocks = np.concatenate([point.block(rank) for rank in range(point.ranks)])
        self._input = jax.device_put(blocks, NamedSharding(self._mesh, spec)).block_until_ready()
        self.once()

    def once(self) -> None:
        """Call and block until the result is there."""
        # The others write to one place again and again.
        self._result = None
        self._result = self._call(self._input).block_until_ready()

    def meet(self) -> None:
        """Do nothing: there is one process."""

    def wrong(self) -> int:
        """Return how many elements of all ranks differ."""
        self.once()
        found = np.split(np.asarray(self._result), self._point.ranks)
        return sum(wrong(one, other) for one, other in zip(found, self._point.expected(), strict=True))


def peer(_rank: int, ranks: int, _folder: str) -> JaxPeer:
    """Return the peer."""
    return JaxPeer(ranks)
