"""JAX: a compiled ``shard_map`` over one virtual CPU device a rank."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from conformance.bench.overlap.steps import Step, inputs, wrong
from conformance.bench.virtual_devices import VirtualDevices

# JAX does not type it.
_spec: Any = PartitionSpec


class JaxPeer(VirtualDevices):
    """One process."""

    def prepare(self, point: Step) -> None:
        """Put the inputs on the devices, and compile."""
        self._step = point
        named = {name: np.concatenate(blocks) for name, blocks in inputs(point).items()}
        spec = _spec("ranks")
        sharding = NamedSharding(self._mesh, spec)
        self._inputs = {name: jax.device_put(each, sharding) for name, each in named.items()}
        mapped = jax.shard_map(self._made, mesh=self._mesh, in_specs=(spec,), out_specs=spec, check_vma=False)
        self._call = jax.jit(mapped)
        self.once()

    def _made(self, given: dict[str, Any]) -> list[Any]:
        lax: Any = jax.lax
        step = self._step

        def weights(layer: int) -> Any:
            own = given[f"w{layer}"]
            return lax.all_gather(own, "ranks", tiled=True) if step.sharded else own

        if not step.backward:
            h = given["x"]
            for layer in range(step.layers):
                h = h @ weights(layer)
            return [h]
        g, found = given[f"g{step.layers}"], {}
        for layer in reversed(range(step.layers)):
            made = given[f"t{layer}"] @ g
            found[layer] = lax.psum_scatter(made, "ranks", tiled=True) if step.sharded else lax.psum(made, "ranks")
            g = g @ weights(layer) if layer else g
        return [found[layer] for layer in range(step.layers)]

    def once(self) -> None:
        """Call and block until the results are there."""
        # The others write to one place again and again.
        self._results: Any = None
        found = self._call(self._inputs)
        for each in found:
            each.block_until_ready()
        self._results = found

    def meet(self) -> None:
        """Do nothing: there is one process."""

    def wrong(self) -> int:
        """Return how many elements of all ranks are wrong."""
        self.once()
        found = [np.split(np.asarray(each), self._step.ranks) for each in self._results]
        return sum(
            wrong([blocks[rank] for blocks in found], self._step.expected(rank)) for rank in range(self._step.ranks)
        )


def peer(_rank: int, ranks: int, _folder: str) -> JaxPeer:
    """Return the peer."""
    return JaxPeer(ranks)
