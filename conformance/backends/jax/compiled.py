"""A program as one compiled JAX function, and the way of blocks into it and out of it."""

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
from conformance.backends.jax.collectives import OPERATIONS
from conformance.cases.dtypes import Array
from conformance.cases.program import Program, Step

Shape = tuple[int, ...]
Block = tuple[Shape, np.dtype[Any]]
"""Shape and dtype that the blocks of a value share on every rank."""


@dataclass(frozen=True)
class Executable:
    """A compiled program. Every value is a global array with one leading axis, split into one block a rank."""

    call: Any
    sharding: NamedSharding

    def run(self, inputs: Mapping[str, list[Array]]) -> dict[str, list[Array]]:
        """Return the blocks of every result, in rank order, each read from the shard of its own device."""
        devices = list(self.sharding.mesh.devices.flat)
        arrays = {name: _array(views, self.sharding) for name, views in inputs.items()}
        return {name: _blocks(array, devices) for name, array in self.call(arrays).items()}


def compile_program(program: Program, inputs: Mapping[str, Block], devices: list[Any]) -> Executable:
    """Trace, lower and compile all steps of ``program`` as one function; raise whatever JAX raises."""
    if program.world > len(devices):
        raise Unsupported(f"a world of {program.world} needs as many devices; JAX has {len(devices)}")
    sizes = [axis.size for axis in program.mesh]
    mesh = Mesh(np.array(devices[: program.world]).reshape(sizes), tuple(axis.name for axis in program.mesh))
    # A leading axis over all mesh axes, so that rank-0 blocks have something to split; rank r is its r-th slice.
    spec = PartitionSpec(mesh.axis_names)
    sharding = NamedSharding(mesh, spec)
    mapped = jax.shard_map(
        _rank_function(program), mesh=mesh, in_specs=spec, out_specs=spec, check_vma=not _sums_over_groups(program)
    )
    arguments = {
        name: jax.ShapeDtypeStruct((program.world, *shape), dtype, sharding=sharding)
        for name, (shape, dtype) in inputs.items()
    }
    return Executable(jax.jit(mapped).lower(arguments).compile(), sharding)


def forget() -> None:
    """Drop what JAX remembers of tracing and compiling: growth by 14 KB a fresh case becomes 5."""
    jax.clear_caches()


def _rank_function(program: Program) -> Any:
    def rank(arguments: dict[str, Any]) -> dict[str, Any]:
        values = {name: lax.squeeze(array, (0,)) for name, array in arguments.items()}
        for step in program.steps:
            values.update(_outputs(step, values))
        return {name: lax.expand_dims(values[name], (0,)) for name in program.results}

    return rank


def _outputs(step: Step, values: Mapping[str, Any]) -> dict[str, Any]:
    if step.op not in OPERATIONS:
        raise Unsupported(f"the JAX backend has no {step.op}; it has {', '.join(OPERATIONS)}")
    axis_name = step.axes[0] if len(step.axes) == 1 else step.axes
    alone = len(step.inputs) == 1
    operand = values[step.inputs[0]] if alone else tuple(values[name] for name in step.inputs)
    result = OPERATIONS[step.op](operand, axis_name, step.groups, **step.attrs)
    return dict(zip(step.outputs, (result,) if alone else result, strict=True))


def _sums_over_groups(program: Program) -> bool:
    """Return whether a user would have to turn shard_map's default type checks off.

    ``psum`` with groups is documented, but under ``check_vma=True`` it raises a bare ``NotImplementedError``; the
    checks say nothing about values. Every other program runs as most users run it, with the default.
    """
    grouped = [step for step in program.steps if step.groups is not None]
    return any(step.op == "all_reduce" and step.attrs.get("op") == "sum" for step in grouped)


def _array(views: list[Array], sharding: NamedSharding) -> Any:
    """Return the global array whose r-th slice is the r-th view, handed to JAX as it lies in memory."""

    # One callback transfer takes 30 us for 8 ranks; device_put with make_array_from_single_device_arrays takes 140.
    def slice_of(index: tuple[slice, ...] | None) -> Array:
        return views[index[0].start or 0 if index else 0][None]

    return jax.make_array_from_callback((len(views), *views[0].shape), sharding, slice_of)


def _blocks(array: Any, devices: list[Any]) -> list[Array]:
    shards = {shard.device: shard.data for shard in array.addressable_shards}
    return [np.asarray(shards[device])[0, ...] for device in devices]
