"""Ranks under ``shard_map`` and ``jit``: one device a rank, and the way of blocks into its shard and out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from conformance.backends.attribution import adapter, framework
from conformance.backends.base import Unsupported
from conformance.cases.program.program import Program
from conformance.cases.tensor.dtypes import Array


@dataclass(frozen=True)
class Shards:
    """Every value is a global array with one leading axis, split into one block a rank."""

    sharding: NamedSharding
    checked: bool
    own: ClassVar = (slice(0, 1),)

    def put(self, views: list[Array]) -> Any:
        """Return the global array whose r-th slice is the block of rank r, handed to JAX as it lies in memory.

        ``views`` are the blocks of the ranks in this process, which follow each other.
        """
        first = self._here[0]

        # One callback transfer takes 30 us for 8 ranks; device_put with make_array_from_single_device_arrays takes 140.
        @adapter()
        def slice_of(index: tuple[slice, ...] | None) -> Array:
            return views[(index[0].start or 0 if index else 0) - first][None]

        with framework():
            return jax.make_array_from_callback((self.sharding.mesh.size, *views[0].shape), self.sharding, slice_of)

    def blocks(self, array: Any) -> list[Array]:
        """Return the blocks of the ranks in this process, in rank order, each read from the shard of its own device."""
        with framework():
            held = {shard.device: np.asarray(shard.data) for shard in array.addressable_shards}
        devices = list(self.sharding.mesh.devices.flat)
        return [held[devices[rank]][0, ...] for rank in self._here]

    @cached_property
    def _here(self) -> list[int]:
        """The ranks whose devices are of this process."""
        devices = enumerate(self.sharding.mesh.devices.flat)
        return [rank for rank, device in devices if device.process_index == jax.process_index()]

    def call(self, rank: Callable[..., dict[str, Any]]) -> Any:
        """Return ``rank`` under ``shard_map`` and ``jit``; mutable arrays keep their leading axis inside."""
        spec = self.sharding.spec

        @adapter()
        def slice_of_one(refs: Mapping[str, Any], *arrays: Mapping[str, Any]) -> dict[str, Any]:
            with framework():
                blocks = [{name: lax.squeeze(x, (0,)) for name, x in one.items()} for one in arrays]
            results = rank(refs, *blocks)
            with framework():
                return {name: lax.expand_dims(block, (0,)) for name, block in results.items()}

        mesh = self.sharding.mesh
        with framework():
            mapped = jax.shard_map(slice_of_one, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=self.checked)
            return jax.jit(mapped, donate_argnums=1)


def over(program: Program, devices: list[Any], *, checked: bool) -> Shards:
    """Return the ranks of ``program``, with shard_map's type checks or without.

    Raise ``Unsupported`` when they are more than devices.
    """
    if program.world > len(devices):
        raise Unsupported(f"a world of {program.world} needs as many devices; JAX has {len(devices)}")
    sizes = [axis.size for axis in program.mesh]
    grid = np.array(devices[: program.world]).reshape(sizes)
    with framework():
        mesh = Mesh(grid, tuple(axis.name for axis in program.mesh))
        # A leading axis over all mesh axes, so that blocks without axes have something to split; rank r is its r-th
        # slice.
        return Shards(NamedSharding(mesh, PartitionSpec(mesh.axis_names)), checked)
