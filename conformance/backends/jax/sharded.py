"""A program under ``shard_map`` and ``jit``: one device a rank, and the way of blocks into its shard and out of it."""

# mypy: allow-untyped-calls
# JAX annotates only part of its own functions.

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from conformance.backends.base import Unsupported
from conformance.backends.jax.per_rank import per_rank
from conformance.cases.dtypes import Array
from conformance.cases.program import Program


@dataclass(frozen=True)
class Sharded:
    """A program. Every value is a global array with one leading axis, split into one block a rank."""

    call: Any
    sharding: NamedSharding

    def compile(self, inputs: Mapping[str, list[Array]]) -> None:
        """Do what the first call would do before it runs; calls find it."""
        self.call.lower(self._arrays(inputs)).compile()

    def run(self, inputs: Mapping[str, list[Array]]) -> dict[str, list[Array]]:
        """Return the blocks of every result, in rank order, each read from the shard of its own device."""
        devices = list(self.sharding.mesh.devices.flat)
        return {name: _blocks(array, devices) for name, array in self.call(self._arrays(inputs)).items()}

    def _arrays(self, inputs: Mapping[str, list[Array]]) -> dict[str, Any]:
        return {name: _array(views, self.sharding) for name, views in inputs.items()}


def prepare(program: Program, devices: list[Any]) -> Sharded:
    """Return all steps of ``program`` as one function; raise ``Unsupported`` when it has more ranks than devices."""
    if program.world > len(devices):
        raise Unsupported(f"a world of {program.world} needs as many devices; JAX has {len(devices)}")
    sizes = [axis.size for axis in program.mesh]
    mesh = Mesh(np.array(devices[: program.world]).reshape(sizes), tuple(axis.name for axis in program.mesh))
    # A leading axis over all mesh axes, so that rank-0 blocks have something to split; rank r is its r-th slice.
    spec = PartitionSpec(mesh.axis_names)
    sharding = NamedSharding(mesh, spec)
    run = per_rank(program)

    def slice_of_one(arrays: Mapping[str, Any]) -> dict[str, Any]:
        results = run({name: lax.squeeze(array, (0,)) for name, array in arrays.items()})
        return {name: lax.expand_dims(block, (0,)) for name, block in results.items()}

    mapped = jax.shard_map(slice_of_one, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=not _unchecked(program))
    return Sharded(jax.jit(mapped), sharding)


def _unchecked(program: Program) -> bool:
    """Return whether a user would have to turn shard_map's default type checks off.

    ``psum`` and ``pmean`` with groups are documented, but under ``check_vma=True`` they raise a bare
    ``NotImplementedError``, as any reduction over positional axes raises a bare ``AssertionError``; the checks say
    nothing about values. Every other program runs as most users run it, with the default.
    """
    reductions = [step for step in program.steps if step.op == "all_reduce"]
    return any(
        step.attrs.get("local_axes") or (step.groups is not None and step.attrs.get("op") in ("sum", "mean"))
        for step in reductions
    )


def _array(views: list[Array], sharding: NamedSharding) -> Any:
    """Return the global array whose r-th slice is the r-th view, handed to JAX as it lies in memory."""

    # One callback transfer takes 30 us for 8 ranks; device_put with make_array_from_single_device_arrays takes 140.
    def slice_of(index: tuple[slice, ...] | None) -> Array:
        return views[index[0].start or 0 if index else 0][None]

    return jax.make_array_from_callback((len(views), *views[0].shape), sharding, slice_of)


def _blocks(array: Any, devices: list[Any]) -> list[Array]:
    shards = {shard.device: shard.data for shard in array.addressable_shards}
    return [np.asarray(shards[device])[0, ...] for device in devices]
