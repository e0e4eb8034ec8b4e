"""Typed programs compiled for TPUs: their types, their values and tangents, and the collectives that were compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from jax._src import config
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from conformance.backends.attribution import framework
from conformance.backends.base import Unsupported
from conformance.backends.jax.hlo.module import Module, read_module
from conformance.backends.jax.tpu.evaluate import evaluated
from conformance.backends.jax.tpu.pairs import check
from conformance.backends.jax.typed_programs import Jitted
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.typed_program import TypedProgram

Blocks = list[Array]


def enough(program: TypedProgram, devices: list[Any]) -> None:
    """Raise ``Unsupported`` where a program has more ranks than there are chips."""
    if program.world > len(devices):
        raise Unsupported(f"a world of {program.world} needs as many devices; the topology has {len(devices)}")


def compiled(made: Jitted, given: Mapping[str, Blocks], devices: list[Any]) -> Module:
    """Return what a function over the mesh of a program is compiled to; raise what JAX raises, and ``BrokenPair``."""
    program = made.program
    grid = np.array(devices[: program.world]).reshape([axis.size for axis in program.mesh])
    sizes = {axis.name: axis.size for axis in program.mesh}
    with framework(), config.auto_pcast(program.automatic):
        mesh = Mesh(grid, tuple(sizes))
        shapes = {
            name: jax.ShapeDtypeStruct(
                (*(sizes[axis] for axis in made.entering[name]), *blocks[0].shape),
                blocks[0].dtype,
                sharding=NamedSharding(mesh, PartitionSpec(*made.entering[name])),
            )
            for name, blocks in given.items()
        }
        leaving = {name: NamedSharding(mesh, PartitionSpec(*axes)) for name, axes in made.leaving.items()}
        function = jax.jit(made.function, keep_unused=True, out_shardings=leaving)
        made_of: Any = function.lower(shapes).compile().runtime_executable()
        (module,) = made_of.hlo_modules()
        encoded = module.as_serialized_hlo_module_proto()
    found = read_module(encoded)
    with framework():
        check(found)
    return found


def run(module: Module, made: Jitted, given: Mapping[str, Blocks]) -> dict[str, Blocks]:
    """Return the blocks of what leaves, one a rank."""
    world = made.program.world
    arrays = [
        np.stack(given[name]).reshape(world, *[1] * len(made.entering[name]), *given[name][0].shape)
        for name in sorted(given)
    ]
    value = evaluated(module, world, arrays)
    parts = value if isinstance(value, tuple) else (value,)
    return {
        name: [np.asarray(each).reshape(each.shape[len(made.leaving[name]) :]) for each in part]
        for name, part in zip(sorted(made.leaving), parts, strict=True)
    }
